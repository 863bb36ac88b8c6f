#!/usr/bin/env bash
# Checks the output of GoReleaser as a user would: hack/check-release.sh VERSION ARGUMENTS…, where ARGUMENTS tell
# `cosign verify-blob` whose signature is expected.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$1
shift
PATH=$PWD/bin/tools:$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "release $version: $*" >&2; exit 1; }
same() { diff -r "$1" "$2" || fail "the packed files differ from $1"; }

# All uploaded files in one folder.
mkdir "$work/files"
cp bin/release/*.tar.gz bin/release/*.sbom.json bin/release/checksums.txt* bin/release-files/* "$work/files"
expected=$(
  for platform in linux_amd64 linux_arm64 darwin_amd64 darwin_arm64; do
    echo "darkroom-operator_${version}_$platform.tar.gz"
    echo "darkroom-operator_${version}_$platform.tar.gz.sbom.json"
  done
  ls bin/release-files
)
diff <(sort <<< "$expected") <(awk '{ print $2 }' "$work/files/checksums.txt" | sort) ||
  fail "checksums.txt must list the files marked with <, and not the files marked with >"
(cd "$work/files" && sha256sum --check --strict --quiet checksums.txt) || fail "the checksums are wrong"
cosign verify-blob "$@" --bundle "$work/files/checksums.txt.sigstore.json" "$work/files/checksums.txt" 2> "$work/log" ||
  fail "the signature is wrong: $(cat "$work/log")"

# The page names its program, whose name changes with its content.
script=$(sed -n 's|.*src="\([^"]*\.js\)".*|\1|p' web/dist/index.html)
[[ $script ]] || fail "web/dist/index.html names no program"
for archive in "$work"/files/darkroom-operator_*.tar.gz; do
  folder=$work/unpacked/$(basename "$archive" .tar.gz)
  mkdir -p "$folder" && tar -xzf "$archive" -C "$folder"
  # The manager reads these files when it is started in this folder.
  same helm-charts/darkroom "$folder/helm-charts/darkroom"
  same watches.yaml "$folder/watches.yaml"
  for word in k8s.io/client-go @patternfly/react-core; do
    grep -q "^==== $word " "$folder/NOTICES" || fail "the notices of $(basename "$archive") lack $word"
  done
  grep -qF "$script" "$folder/darkroom-operator" || fail "the program in $(basename "$archive") has no page"
  for word in '"spdxVersion"' k8s.io/client-go; do
    grep -qF "$word" "$archive.sbom.json" || fail "the SBOM of $(basename "$archive") does not have $word"
  done
done

# One of the archives is for this machine.
here=$work/unpacked/darkroom-operator_${version}_$(go env GOHOSTOS)_$(go env GOHOSTARCH)
[[ $("$here/darkroom-operator" --version) == *"$version" ]] || fail "the program reports the version $("$here/darkroom-operator" --version)"
"$here/darkroom-operator" template -f config/samples/darkroom-webfolder.yaml > "$work/preview.yaml"
grep -q '^kind: Deployment$' "$work/preview.yaml" || fail "template prints no Deployment"

for file in install.yaml install-with-apiserver.yaml; do
  grep -q "image: ghcr.io/darkroom-operator/darkroom-operator:v$version$" "$work/files/$file" || fail "$file does not install this version"
done
mkdir "$work/bundle" && tar -xzf "$work/files/bundle.tar.gz" -C "$work/bundle"
same "${OLM_DIR:-.}/bundle" "$work/bundle/bundle"
same "${OLM_DIR:-.}/catalog" "$work/bundle/catalog"
echo "release $version: $(wc -l < "$work/files/checksums.txt") files are complete, their checksums and signature right; the program runs"
