#!/usr/bin/env bash
# Limits the exponents of quantities in a CRD to two digits, because Kubernetes' library computes with all of them:
# hack/bound-exponents.sh FILE
set -euo pipefail

any='(\[eE\](\\+|-)?((\[0-9\]+(\\\.\[0-9\]\*)?)|(\\\.\[0-9\]+)))'
sed "s/$any/([eE](\\\\+|-)?[0-9]{1,2})/" "$1" > "$1.new"
mv "$1.new" "$1"
