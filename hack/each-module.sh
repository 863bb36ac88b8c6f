#!/usr/bin/env bash
# Runs a command in each of several Go modules, and fails if it fails in any of them: hack/each-module.sh TITLE "MODULE
# …" COMMAND …
set -euo pipefail
cd "$(dirname "$0")/.."

title=$1 modules=$2
shift 2
failed=()
for module in $modules; do
  echo "$title: $module"
  (cd "$module" && "$@") || failed+=("$module")
done
((${#failed[@]} == 0)) || { echo "$title failed in: ${failed[*]}"; exit 1; }
