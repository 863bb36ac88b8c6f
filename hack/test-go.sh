#!/usr/bin/env bash
# Runs the Go tests of modules: hack/test-go.sh MODULE …; make test-go sets the variables.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD

# flags prints the flags of go test. With SHORT, tests run only a part of long tables. In the main module, only tests
# affected by a change run, because Go caches the results of the others. Tests of the other modules read files outside
# of them, which Go would not notice. With the race detector, tests compute most of the time; without it, they wait. The
# gate's corpus takes seven times as long with it and is not concurrent, so it runs without.
flags() { # MODULE
  if [[ ! $SHORT ]]; then
    echo -shuffle=on
  elif [[ $1 == . ]]; then
    echo -short
  else
    echo -short -count=1
  fi
  if [[ $RACE ]]; then echo "$RACE" -parallel 3 -skip '^TestCorpus$'; else echo -parallel 8; fi
}

# run runs the tests of the current folder's module.
run() { # MODULE
  local packages
  if [[ $1 != . ]]; then unset PACKAGES; fi
  packages=$("$root/hack/packages.sh") || return
  # shellcheck disable=SC2046,SC2086 # lists of flags and packages
  "$GOTESTSUM" --format "$format" --raw-command -- go test -json -timeout 30m $(flags "$1") $packages
}

format=pkgname
if [[ $VERBOSE ]]; then format=standard-verbose; fi
if [[ $RACE ]]; then export CGO_ENABLED=1; fi
failed=()
for module in "$@"; do
  echo "go test: $module"
  (cd "$module" && run "$module") || failed+=("$module")
done
((${#failed[@]} == 0)) || { echo "tests failed in: ${failed[*]}"; exit 1; }
