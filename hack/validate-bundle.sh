#!/usr/bin/env bash
# Validates bundle/, and also fails on warnings: hack/validate-bundle.sh OPERATOR_SDK
set -euo pipefail
cd "$(dirname "$0")/.."

code=0
answer=$("$1" bundle validate bundle --select-optional suite=operatorframework 2>&1) || code=$?
echo "$answer"
((code == 0)) && ! grep -q level=warning <<< "$answer"
