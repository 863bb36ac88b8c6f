#!/usr/bin/env bash
# Builds and checks a release of the working tree without publishing it: bin/release and bin/release-files.
# hack/snapshot.sh VERSION; `make release-snapshot` builds what it needs. It differs from a release in its version, and
# in the key that signs it.
set -euo pipefail
cd "$(dirname "$0")/.."

PATH=$PWD/bin/tools:$PATH
keys=$(mktemp -d)
trap 'rm -rf "$keys"' EXIT
export COSIGN_PASSWORD='' COSIGN_KEY=$keys/cosign.key
cosign generate-key-pair --output-key-prefix "$keys/cosign" 2> "$keys/log" || { cat "$keys/log" >&2; exit 1; }

# The version is the version of the next release, because there may be no tag to derive it from.
NEXT_VERSION=$1 goreleaser release --snapshot --clean
hack/sign.sh file bin/release/checksums.txt
hack/check-release.sh "$1-snapshot" --key "$keys/cosign.pub" --insecure-ignore-tlog
