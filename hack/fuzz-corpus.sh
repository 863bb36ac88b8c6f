#!/usr/bin/env bash
# Copies the inputs that fuzzing found on this machine into the packages' testdata/fuzz.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD

cd "$(go env GOCACHE)/fuzz/github.com/darkroom-operator/darkroom-operator"
find . -type d -name 'Fuzz*' | while read -r corpus; do
  mkdir -p "$root/${corpus%/*}/testdata/fuzz"
  cp -r "$corpus" "$root/${corpus%/*}/testdata/fuzz/"
done
