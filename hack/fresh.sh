#!/usr/bin/env bash
# Notes what bundle/ and catalog/ were generated from, so that a stale one is noticed
# without the programs that generate them, which take minutes to build:
#
#   hack/fresh.sh note bundle|catalog    after it was generated
#   hack/fresh.sh check bundle|catalog   fails if the input or the output changed since
#
# The digests are in hack/fresh.sum. `make verify-bundle` regenerates both and compares.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly sums=hack/fresh.sum
action=$1 name=$2

digest() {
  case $name in
    bundle)
      bin/tools/kustomize build config/manifests
      cat hack/bundle.sh hack/operator-sdk/go.mod
      contents bundle bundle.Dockerfile
      ;;
    catalog)
      cat hack/catalog.sh test/cluster/programs/downloads.mod
      contents bundle catalog
      ;;
    *)
      echo "fresh.sh: there is no $name; bundle or catalog" >&2
      return 2
      ;;
  esac | git hash-object --stdin
}

# contents prints the names and the contents of all files below the arguments.
contents() {
  find "$@" -type f | LC_ALL=C sort | while read -r file; do
    echo "$file"
    cat "$file"
  done
}

sum=$(digest)
case $action in
  note)
    { grep -v "^$name " "$sums" || true; echo "$name $sum"; } | LC_ALL=C sort > "$sums.new"
    mv "$sums.new" "$sums"
    ;;
  check) grep -qx "$name $sum" "$sums" || { echo "stale: $name: run make bundle catalog" >&2; exit 1; } ;;
  *) echo "fresh.sh: note or check, not $action" >&2; exit 2 ;;
esac
