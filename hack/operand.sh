#!/usr/bin/env bash
# Rebuilds Darkroom v0.4.2, unchanged, with the current Go version: hack/operand.sh FOLDER COMMIT. FOLDER is a checkout
# of its source, and COMMIT the expected commit. The programs are written to bin/operand, one for each of ARCHITECTURES.
# With TAG, an image of them is also written to bin/images, in the form of hack/images.sh. At the end it prints what it
# has checked.
#
# Darkroom links C (cgo), so each architecture needs a compiler; on Debian, the packages gcc and gcc-aarch64-linux-gnu.
set -euo pipefail
source=$(cd "$1" && pwd) commit=$2
cd "$(dirname "$0")/.."
notices=$PWD/gate/notices.sh
output=${OUTPUT:-$PWD/bin/operand}
fail() { echo "operand: $*" >&2; exit 1; }
source_git() { git -c safe.directory="$source" -C "$source" "$@"; }

[[ $commit =~ ^[0-9a-f]{40}$ ]] || fail "COMMIT is \"$commit\": name the whole commit, of 40 digits, and no tag or branch"
head=$(source_git rev-parse HEAD)
[[ $head == "$commit" ]] || fail "$source is at $head: check out $commit"
[[ ! $(source_git status --porcelain) ]] || fail "$source has changes: $(source_git status --porcelain | head -n 1)"

declare -A compilers=([amd64]=x86_64-linux-gnu-gcc [arm64]=aarch64-linux-gnu-gcc) machines=([amd64]=X86-64 [arm64]=AArch64)
rm -rf "$output" && mkdir -p "$output"
for arch in ${ARCHITECTURES:-amd64 arm64}; do
  compiler=${compilers[$arch]:-}
  [[ $compiler ]] || fail "$arch: the architectures are ${!compilers[*]}"
  command -v "$compiler" > /dev/null || fail "$arch needs $compiler, which is not installed"
  program=$output/darkroom-linux-$arch
  # Use Go's resolvers: the resolvers of glibc load libraries at run time.
  (cd "$source" && CGO_ENABLED=1 GOOS=linux GOARCH=$arch CC=$compiler GOWORK=off go build -mod=readonly -trimpath -buildvcs=true \
    -tags netgo,osusergo -ldflags "-s -w -linkmode external -extldflags -static" -o "$program" .)
  header=$(readelf -h -d -l "$program" 2>&1)
  grep -q "Machine:.*${machines[$arch]}" <<< "$header" || fail "$program is not for $arch"
  if grep -qE '\(NEEDED\)|INTERP' <<< "$header"; then fail "$program is not static"; fi
  built=$(go version -m "$program")
  for setting in "vcs.revision=$commit" vcs.modified=false CGO_ENABLED=1; do
    grep -q "$setting" <<< "$built" || fail "$program was built without $setting"
  done
  echo "$arch: static, of $commit without changes, with $(sed -n '1s/.*: //p' <<< "$built"), $(stat -c %s "$program") bytes"
done
CGO_ENABLED=1 "$notices" "$source" > "$output/notices.txt"
echo "licenses of all modules: found"
[[ ${TAG:-} ]] || exit 0

name=${REGISTRY:-ghcr.io/darkroom-operator}/darkroom folder=bin/images
rm -rf "$folder" && mkdir -p "$folder"
docker buildx build --output "type=oci,tar=false,dest=$folder/darkroom" --sbom=true --provenance=mode=max \
  --platform linux/amd64,linux/arm64 --build-arg VERSION="$TAG" --build-arg REVISION="$commit" -f hack/operand.Dockerfile "$output"
digest=$(sed -n 's/.*"digest": *"\(sha256:[0-9a-f]*\)".*/\1/p' "$folder/darkroom/index.json")
[[ $digest =~ ^sha256:[0-9a-f]{64}$ ]] || fail "the image has no digest: $digest"
echo "$folder/darkroom $digest $name $TAG" > "$folder/list"
