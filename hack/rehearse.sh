#!/usr/bin/env bash
# Rehearses a release against a registry on this machine: builds, publishes, signs and verifies as
# .github/workflows/release.yaml does, and tries everything that must be refused. hack/rehearse.sh VERSION; `make
# release-rehearsal` builds what it needs. It differs from a release in the signing key, and in images that are packed
# without a container engine. `make release-snapshot` builds the programs for all platforms.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$1
PATH=$PWD/bin/tools:$PATH
work=$(mktemp -d)
crane registry serve --address 127.0.0.1:0 > "$work/registry" 2>&1 &
registry=$!
trap 'kill "$registry"; rm -rf "$work"' EXIT
until port=$(sed -n 's/.*serving on port \([0-9]*\).*/\1/p' "$work/registry") && [[ $port ]]; do
  kill -0 "$registry" || { cat "$work/registry" >&2; exit 1; }
  sleep 0.1
done
export REGISTRY=127.0.0.1:$port/darkroom-operator CONTAINER_TOOL=none
# Any image with a digest can replace Darkroom's, because nothing here runs it.
DARKROOM_IMAGE=docker.io/gojektech/darkroom@sha256:$(printf darkroom | sha256sum | cut -d' ' -f1)
export DARKROOM_IMAGE COSIGN_PASSWORD='' COSIGN_KEY=$work/cosign.key
fail() { echo "rehearsal: $*" >&2; exit 1; }
refused() { # WHY COMMAND…
  local why=$1
  shift
  if "$@" > "$work/refusal" 2>&1; then fail "not refused: $why"; fi
  grep -q "$why" "$work/refusal" || fail "refused for another reason than \"$why\": $(cat "$work/refusal")"
}

cosign generate-key-pair --output-key-prefix "$work/cosign" 2> "$work/log" || fail "$(cat "$work/log")"
hack/images.sh "$version"
OLM_DIR=bin/pinned hack/release.sh "$version-rehearsal"
mkdir -p bin/release
(cd bin/release-files && sha256sum -- *) > bin/release/checksums.txt

hack/publish.sh "$version"
published=$(wc -l < bin/subjects)

# Verify it as a user would.
while read -r _ digest name tag; do
  [[ $(crane digest "$name:$tag") == "$digest" ]] || fail "$name:$tag is not $digest"
  cosign verify --key "$work/cosign.pub" --insecure-ignore-tlog "$name@$digest" > /dev/null 2> "$work/log" || fail "$name: $(cat "$work/log")"
done < bin/images/list
for name in darkroom-operator darkroom-gate; do
  digest=$(awk -v name="$REGISTRY/$name" '$3 == name { print $2 }' bin/images/list)
  grep -q "$REGISTRY/$name@$digest" bin/pinned/bundle/manifests/*.clusterserviceversion.yaml || fail "the bundle does not name $name by the digest that was pushed"
done
digest=$(awk -v name="$REGISTRY/darkroom-operator-bundle" '$3 == name { print $2 }' bin/images/list)
grep -q "image: $REGISTRY/darkroom-operator-bundle@$digest" bin/pinned/catalog/darkroom-operator/bundles.yaml || fail "the catalog does not name the bundle that was pushed"
cosign verify-blob --key "$work/cosign.pub" --insecure-ignore-tlog --bundle bin/release/checksums.txt.sigstore.json bin/release/checksums.txt 2> "$work/log" || fail "$(cat "$work/log")"
while read -r hex name; do
  [[ $name != "$REGISTRY"/* ]] || cosign verify --key "$work/cosign.pub" --insecure-ignore-tlog "$name@sha256:$hex" > /dev/null 2> "$work/log" ||
    fail "$name: $(cat "$work/log")"
done < bin/subjects

# Publishing the same again changes nothing. Different content of the same version is refused, and so is anything that
# the build did not create.
hack/publish.sh "$version"
cp bin/images/list "$work/list"
sed 's|^\(bin/images/darkroom-operator\.tar\) [^ ]*|\1 sha256:'"$(printf other | sha256sum | cut -d' ' -f1)"'|' "$work/list" > bin/images/list
refused "is not the file that was built" hack/publish.sh "$version"
sed "s|^bin/images/darkroom-operator.tar \([^ ]*\)|$(awk '$1 ~ /catalog/ { print $1, $2 }' "$work/list")|" "$work/list" > bin/images/list
refused "was released with different content" hack/publish.sh "$version"
cp "$work/list" bin/images/list
# A released gate is not built again.
hack/images.sh "$version"
! grep -q darkroom-gate bin/images/list || fail "the gate of a released version is built again"
echo "rehearsal: $published files, images and charts are published, signed and verified; what must be refused is refused"
