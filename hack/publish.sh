#!/usr/bin/env bash
# Publishes the images and charts that hack/images.sh and hack/release.sh built, and signs them by digest:
# hack/publish.sh VERSION. It runs with permissions that the build does not have, and runs nothing that was built.
# bin/subjects has a line for each file, image and chart, for the attestation of their provenance. hack/publish.sh
# images publishes only images, for example the ones that hack/operand.sh builds. REGISTRY is the registry to publish to.
# A released version is never replaced: publishing the same again changes nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$1
base=${REGISTRY:-ghcr.io/darkroom-operator}
PATH=$PWD/bin/tools:$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "publish $version: $*" >&2; exit 1; }

# digest_in_registry NAME:TAG prints nothing if there is no such image. Some registries deny access to names
# that do not exist.
digest_in_registry() {
  crane digest "$1" 2> "$work/log" && return
  grep -qE 'MANIFEST_UNKNOWN|NAME_UNKNOWN|404 Not Found|DENIED|UNAUTHORIZED' "$work/log" || fail "request $1: $(cat "$work/log")"
}

# digest_of FILE prints the digest of what would be pushed.
digest_of() {
  if [[ -d $1 ]]; then sed -n 's/.*"digest": *"\(sha256:[0-9a-f]*\)".*/\1/p' "$1/index.json"; else crane digest --tarball "$1"; fi
}

if [[ $version == images ]]; then : > bin/subjects; else cp bin/release/checksums.txt bin/subjects; fi
published() { echo "${2#sha256:}  $1" >> bin/subjects; }

while read -r file digest name tag; do
  [[ $name == "$base"/* ]] || fail "$name is not in $base"
  [[ $(digest_of "$file") == "$digest" ]] || fail "$file is not the file that was built: its digest is not $digest"
  there=$(digest_in_registry "$name:$tag")
  # The catalog of all releases has no version.
  [[ $tag == latest || -z $there || $there == "$digest" ]] || fail "$name:$tag was released with different content: $there"
  crane push "$file" "$name:$tag"
  hack/sign.sh image "$name@$digest"
  published "$name" "$digest"
done < bin/images/list

if [[ $version == images ]]; then
  echo "published $(wc -l < bin/subjects) images"
  exit
fi

chart=$(sed -n 's/^version: //p' helm-charts/darkroom/Chart.yaml)
for packed in "darkroom-operator:$version" "darkroom:$chart"; do
  name=$base/charts/${packed%:*}
  # `make verify` has checked that the content of a chart belongs to its version.
  there=$(digest_in_registry "$name:${packed#*:}")
  if [[ $there ]]; then continue; fi
  plain=()
  if [[ $base == 127.0.0.1:* ]]; then plain=(--plain-http); fi
  helm push "bin/release-files/${packed%:*}-chart-${packed#*:}.tgz" "oci://$base/charts" "${plain[@]}" > "$work/push" 2>&1 || fail "$(cat "$work/push")"
  digest=$(sed -n 's/^Digest: //p' "$work/push")
  [[ $digest =~ ^sha256:[0-9a-f]{64}$ ]] || fail "helm push printed no digest: $(cat "$work/push")"
  hack/sign.sh image "$name@$digest"
  published "$name" "$digest"
done
hack/sign.sh file bin/release/checksums.txt
echo "published $(wc -l < bin/subjects) files, images and charts of $version"
