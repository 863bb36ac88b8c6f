#!/usr/bin/env bash
# Makes the files of a release for OLM, with all images by digest, so that they can be
# installed from a mirror. It asks the registries that the images have been pushed to:
#
#   hack/pin.sh bundle VERSION IMAGE    bin/pinned/bundle, with the operator's IMAGE
#   hack/pin.sh catalog BUNDLE-IMAGE    bin/pinned/catalog, of that bundle, pushed meanwhile
set -euo pipefail
cd "$(dirname "$0")/.."

folder=bin/pinned

# pinned prints an image without its tag, with the digest of the list of all platforms.
pinned() {
  local digest
  digest=$(go run github.com/google/go-containerregistry/cmd/crane@v0.22.1 digest "$1")
  [[ $digest =~ ^sha256:[0-9a-f]{64}$ ]] || { echo "$1 has no digest: $digest" >&2; return 1; }
  echo "${1%:*}@$digest"
}

case $1 in
  bundle)
    version=$2
    image=$(pinned "$3")
    related() { sed -n "/RELATED_IMAGE_$1/{n; s/^ *value: //p}" config/manifests/olm_manager.yaml; }
    DARKROOM_IMAGE=$(pinned "$(related DARKROOM)")
    GATE_IMAGE=$(pinned "$(related GATE)")
    export DARKROOM_IMAGE GATE_IMAGE
    hack/bundle.sh "$version" "$image" "$folder"
    ;;
  catalog)
    image=$(pinned "$2")
    rm -rf "$folder/catalog"
    cp -r catalog "$folder/"
    hack/catalog.sh "$folder/bundle" "$image" "$folder/catalog/darkroom-operator/bundles.yaml"
    bin/k8s/opm validate "$folder/catalog"
    ;;
  *) echo "pin.sh: bundle or catalog, not $1" >&2; exit 2 ;;
esac
