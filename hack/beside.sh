#!/usr/bin/env bash
# Runs two commands at the same time, and fails if one of them fails: hack/beside.sh "COMMAND …" "COMMAND …"
# The output of the first is printed when both have ended.
set -uo pipefail

log=$(mktemp)
trap 'rm -f "$log"' EXIT
failed=()
$1 > "$log" 2>&1 &
$2 || failed+=("$2")
wait $! || failed+=("$1")
cat "$log"
((${#failed[@]} == 0)) || { printf 'failed: %s\n' "${failed[@]}"; exit 1; }
