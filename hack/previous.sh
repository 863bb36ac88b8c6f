#!/usr/bin/env bash
# Builds an earlier release, to upgrade from, in bin/previous: its source with bundle, chart and manifests, its program,
# and a file with its version. hack/previous.sh NEXT [REF]; NEXT is the version of this tree. Without REF it uses the
# last tag before NEXT, or before the first tag a commit from before any release.
set -euo pipefail
cd "$(dirname "$0")/.."

next=$1 ref=${2:-}
folder=bin/previous
# A commit that works, installs in every way, and reads the current settings. Its pod template equals the current one,
# so that an upgrade replaces no pods. So do the descriptions and rules of its CRD, because OLM v1 rejects an upgrade
# that changes them.
unreleased=4e9487a39d7e7a3d7c202e070b51c515b094e353

# The clone may belong to another user.
git() { command git -c safe.directory="$PWD" "$@"; }

# In order, with pre-releases before their releases.
releases() { { git tag --merged HEAD 'v[0-9]*'; echo "v$next"; } | tr - '~' | sort -uV | sed "/^v${next//-/\~}$/q" | tr '~' -; }
before() { releases | tail -n 2 | head -n 1; }

asked=$ref
if [[ ! $ref ]] && git rev-parse --git-dir > /dev/null 2>&1; then
  ref=$(before)
  if [[ $ref == "v$next" ]]; then ref=$unreleased; fi
fi
if ! commit=$(git rev-parse --quiet --verify "${ref:-none}^{commit}" 2> /dev/null); then
  if [[ $asked ]]; then
    echo "$asked is not in this clone" >&2
    exit 1
  fi
  echo "NOT TESTED: the upgrade from an earlier program. ${ref:-Its history} is not in this clone; with all of the history (git fetch --unshallow --tags) it is. The upgrade is from this program instead."
  commit=
fi

rm -rf "$folder"
mkdir -p "$folder/source"
if [[ $commit ]]; then
  git archive "$commit" | tar -x -C "$folder/source"
else
  tar -c --exclude=./bin --exclude=./.git --exclude=node_modules . | tar -x -C "$folder/source"
fi
mkdir "$folder/source/bin"
ln -s ../../../tools ../../../k8s "$folder/source/bin/"
# A commit that is not a release gets a pre-release version, which is older than any release.
version=${ref#v}
if [[ ! $commit || $ref != v[0-9]* ]]; then
  version=0.0.1-${commit:+g}${commit:0:7}
  version=${version/%-/-same}
  "$folder/source/hack/bundle.sh" "$version" "ghcr.io/darkroom-operator/darkroom-operator:v$version" "$PWD/$folder/source"
fi
go -C "$folder/source" build -o "$PWD/$folder/darkroom-operator" \
  -ldflags "-s -w -X github.com/darkroom-operator/darkroom-operator/internal/cmd.buildVersion=$version" .
echo "$version" > "$folder/version"
echo "the earlier release is $version${commit:+, of the commit $commit}"
