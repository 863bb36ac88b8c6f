#!/usr/bin/env bash
# Builds the images of a release into bin/images without pushing any: hack/images.sh VERSION. Each image is an OCI
# layout or an archive, and bin/images/list has a line for each: file, digest, name and tag. Bundle and catalog name the
# other images by these digests (bin/pinned), so they can be installed from a mirror.
#
# REGISTRY is where the images will be pushed. Images that it already contains are not built: the image of Darkroom, and
# the image of the gate if its version was released. CONTAINER_TOOL=none packs the programs of this machine instead of
# building Dockerfiles, for the rehearsal.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$1
base=${REGISTRY:-ghcr.io/darkroom-operator}
PATH=$PWD/bin/tools:$PATH
folder=bin/images
rm -rf "$folder" && mkdir -p "$folder"

# build NAME TAG DOCKERFILE CONTEXT FILES… ARGUMENTS… builds an image and sets digest. FILES, up to "--", are the files
# that the rehearsal packs.
build() {
  local name=$1 tag=$2 dockerfile=$3 context=$4 files=() file
  shift 4
  while [[ $1 != -- ]]; do files+=("$1"); shift; done
  shift
  if [[ ${CONTAINER_TOOL:-docker} == none ]]; then
    file=$folder/$name.tar
    local pack=()
    for each in "${files[@]:1}"; do pack+=(--file "$each"); done
    bin/cluster image --output "$file" "${pack[@]}" "$base/$name:$tag=${files[0]}"
    digest=$(crane digest --tarball "$file")
  else
    file=$folder/$name
    docker buildx build --output "type=oci,tar=false,dest=$file" --sbom=true --provenance=mode=max \
      --platform "${PLATFORMS:-linux/amd64,linux/arm64}" "$@" -f "$dockerfile" "$context"
    digest=$(sed -n 's/.*"digest": *"\(sha256:[0-9a-f]*\)".*/\1/p' "$file/index.json")
  fi
  [[ $digest =~ ^sha256:[0-9a-f]{64}$ ]] || { echo "$name has no digest: $digest" >&2; return 1; }
  echo "$file $digest $base/$name $tag" >> "$folder/list"
}

# released NAME TAG sets digest to the digest of an image in the registry; empty if there is none. Some registries deny
# access to names that do not exist; hack/publish.sh never replaces an image in any case.
released() {
  if digest=$(crane digest "$base/$1:$2" 2> "$folder/log"); then return; fi
  grep -qE 'MANIFEST_UNKNOWN|NAME_UNKNOWN|404 Not Found|DENIED|UNAUTHORIZED' "$folder/log" || { cat "$folder/log" >&2; return 1; }
  digest=
}

revision=${REVISION:-$(git -c safe.directory="$PWD" rev-parse HEAD)}
build darkroom-operator "v$version" Dockerfile . \
  bin/darkroom-operator /helm-charts/darkroom=helm-charts/darkroom /watches.yaml=watches.yaml -- \
  --build-arg VERSION="$version" --build-arg REVISION="$revision"
operator=$base/darkroom-operator@$digest

# `make verify` has checked that the content of the gate belongs to its version.
gate=v$(cat gate/VERSION)
released darkroom-gate "$gate"
[[ $digest ]] || build darkroom-gate "$gate" gate/Dockerfile gate bin/gate -- --build-arg REVISION="$revision"
GATE_IMAGE=$base/darkroom-gate@$digest
if [[ ! ${DARKROOM_IMAGE:-} ]]; then
  DARKROOM_IMAGE=$(sed -n '/RELATED_IMAGE_DARKROOM/{n; s/^ *value: //p}' config/manifests/olm_manager.yaml)
  DARKROOM_IMAGE=${DARKROOM_IMAGE%:*}@$(crane digest "$DARKROOM_IMAGE")
fi
export GATE_IMAGE DARKROOM_IMAGE

pinned=bin/pinned
hack/bundle.sh "$version" "$operator" "$pinned"
build darkroom-operator-bundle "v$version" "$pinned/bundle.Dockerfile" "$pinned" bin/gate "/=$pinned/bundle" --
rm -rf "$pinned/catalog"
cp -r catalog "$pinned/"
hack/catalog.sh "$pinned/bundle" "$base/darkroom-operator-bundle@$digest" "$pinned/catalog/darkroom-operator/bundles.yaml"
bin/k8s/opm validate "$pinned/catalog"
build darkroom-operator-catalog latest catalog.Dockerfile "$pinned" bin/gate "/configs=$pinned/catalog" --
rm -f "$folder/log"
