#!/usr/bin/env bash
# Regenerates bundle/ and catalog/ into a temporary folder, and compares. Called by
# `make verify-bundle`, which builds the tools.
set -euo pipefail
cd "$(dirname "$0")/.."

fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT

echo "verify: bundle/ and catalog/"
hack/bundle.sh "$BUNDLE_VERSION" "$IMAGE_BASE:v$BUNDLE_VERSION" "$fresh"
hack/catalog.sh "$fresh/bundle" "$IMAGE_BASE-bundle:v$BUNDLE_VERSION" "$fresh/bundles.yaml"
stale=
diff -ru bundle "$fresh/bundle" || stale=1
diff -u bundle.Dockerfile "$fresh/bundle.Dockerfile" || stale=1
diff -u catalog/darkroom-operator/bundles.yaml "$fresh/bundles.yaml" || stale=1
if [[ $stale ]]; then
  echo "stale: run make bundle catalog" >&2
  exit 1
fi
