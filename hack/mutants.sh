#!/usr/bin/env bash
# Runs gremlins on a package: hack/mutants.sh GREMLINS PACKAGE. It works on a copy that contains only committed and
# staged files.
set -euo pipefail
cd "$(dirname "$0")/.."

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
git -c safe.directory="$PWD" ls-files -z | tar -c --null -T - | tar -x -C "$copy"
cd "$copy"
"$1" unleash --timeout-coefficient 20 "./$2"
