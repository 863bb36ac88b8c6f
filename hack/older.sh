#!/usr/bin/env bash
# Builds the program of an older commit, with its source beside it, in bin/older: `make chaos` upgrades from it. Since
# then, a release changes pods, adds fields and drops flags; hack/previous.sh builds a release that changes none of
# these. It is built with the module versions of this tree, so that shared packages are compiled once.
set -euo pipefail
cd "$(dirname "$0")/.."

commit=d5441bca15df4550c13b1bfb461947c4cc06d3a9
folder=bin/older

# The clone may belong to another user.
git() { command git -c safe.directory="$PWD" "$@"; }

if ! git rev-parse --quiet --verify "$commit^{commit}" > /dev/null 2>&1; then
  rm -rf "$folder"
  echo "NOT TESTED: the upgrade from an older program. The commit ${commit:0:7} is not in this clone; with all of the history (git fetch --unshallow) it is."
  exit
fi
if [[ -x $folder/darkroom-operator && $(cat "$folder/commit" 2> /dev/null) == "$commit" ]]; then exit; fi

rm -rf "$folder"
mkdir -p "$folder/source"
git archive "$commit" | tar -x -C "$folder/source"
cd "$folder/source"
versions() { awk '/^\t/ { print $1, $2 }' "$1" | sort; }
join <(versions ../../../go.mod) <(versions go.mod) | awk '{ print "-require=" $1 "@" $2 }' | xargs go mod edit
cat ../../../go.sum >> go.sum
echo "building the operator of the commit ${commit:0:7}"
go build -mod=mod -o ../darkroom-operator .
echo "$commit" > ../commit
