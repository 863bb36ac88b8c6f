#!/usr/bin/env bash
# Writes the present digests of the Dockerfile's images into it, so that the same
# commit builds the same image next year. It asks the images' registries; crane
# answers with the digest of the list of all platforms.
set -euo pipefail
cd "$(dirname "$0")/.."

for arg in GO_IMAGE NODE_IMAGE BASE_IMAGE; do
  image=$(sed -n "s/^ARG $arg=\([^@]*\).*/\1/p" Dockerfile | head -n 1)
  digest=$(go run github.com/google/go-containerregistry/cmd/crane@v0.22.1 digest "$image")
  [[ $digest =~ ^sha256:[0-9a-f]{64}$ ]] || { echo "$image has no digest: $digest" >&2; exit 1; }
  sed -i.old "s|^ARG $arg=.*|ARG $arg=$image@$digest|" Dockerfile && rm Dockerfile.old
  echo "$arg=$image@$digest"
done
