#!/usr/bin/env bash
# Fuzzes functions, one after the other: hack/fuzz.sh TIME FOLDER PACKAGE.NAME …
# PACKAGE is a folder in FOLDER, and NAME the name of a test without Fuzz.
set -euo pipefail
cd "$(dirname "$0")/.."

time=$1
cd "$2"
shift 2
for target in "$@"; do
  go test "./${target%.*}" -run '^$' -fuzz "^Fuzz${target#*.}$" -fuzztime "$time" -fuzzminimizetime 10x
done
