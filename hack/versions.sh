#!/usr/bin/env bash
# Checks that the content of a version never changes: hack/versions.sh [REPOSITORY]. The image of the gate and the chart
# of a Darkroom have their own versions, and a release pushes each version once. So if a release tag contains a version,
# its content must equal the repository's content of that version.
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"

# version FOLDER [TAG] prints the version of a folder, now or at a tag.
version() {
  local file=$1/VERSION
  [[ $1 == gate ]] || file=$1/Chart.yaml
  if [[ $# == 2 ]]; then git show "$2:$file" 2> /dev/null || true; else cat "$file"; fi | sed -n 's/^version: //p; /^[0-9]/p'
}

failed=
for folder in gate helm-charts/darkroom; do
  now=$(version "$folder")
  [[ $now ]] || { echo "$folder has no version" >&2; exit 1; }
  for tag in $(git tag --list 'v[0-9]*'); do
    [[ $(version "$folder" "$tag") == "$now" ]] || continue
    # Tests and documents are not in the image.
    git diff --quiet "$tag" -- "$folder" ":(exclude)$folder/**_test.go" ":(exclude)$folder/**/testdata/**" ":(exclude)$folder/**.md" && continue
    echo "$folder differs from that of $tag, and both are version $now: increase its version, because $now was released" >&2
    failed=1
  done
done
[[ ! $failed ]]
