#!/usr/bin/env bash
# Runs all fuzz functions below some folders, one after the other: hack/fuzz.sh TIME FOLDER …
set -euo pipefail
cd "$(dirname "$0")/.."

time=$1
shift
functions=$(grep -r '^func Fuzz' --include='*_test.go' "$@" | sed -E 's|/[^/]*:func (Fuzz[A-Za-z0-9]*).*| \1|' | sort)
while read -r package name; do
  go -C "$package" test -run '^$' -fuzz "^$name\$" -fuzztime "$time" -fuzzminimizetime 10x </dev/null
done <<<"$functions"
