#!/usr/bin/env bash
# Renders the bundle into a file-based catalog: hack/catalog.sh BUNDLE IMAGE FILE.
# IMAGE is where the bundle's image will be pulled from; FILE receives the olm.bundle.
set -euo pipefail

bundle=$1 image=$2 file=$3
opm=$(dirname "$0")/../bin/k8s/opm
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A folder has no image, so opm leaves the field empty and includes all objects.
"$opm" render "$bundle" --output yaml | sed "s|^image: \"\"$|image: $image|" > "$work/bundle.yaml"
grep -q "^image: $image$" "$work/bundle.yaml" || { echo "opm left no place for the image" >&2; exit 1; }
# If the image is known, metadata is enough; the objects are not needed.
{
  echo "# Rendered by \`make catalog\` from bundle/."
  "$opm" render "$work" --output yaml --migrate-level bundle-object-to-csv-metadata | sed '/^---$/d'
} > "$file"
