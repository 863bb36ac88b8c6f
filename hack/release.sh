#!/usr/bin/env bash
# Generates the files of a release, except programs, in bin/release-files: hack/release.sh VERSION. The same input
# produces the same bytes. OLM_DIR is the folder with bundle/ and catalog/, by default the root of the repository.
set -euo pipefail
cd "$(dirname "$0")/.."

version=${1#v}
base=ghcr.io/darkroom-operator/darkroom-operator
files=bin/release-files

# The committed versions must equal the version of the release.
for place in "charts/darkroom-operator/Chart.yaml:version: $version" "charts/darkroom-operator/Chart.yaml:appVersion: $version" \
  "bundle/manifests/darkroom-operator.clusterserviceversion.yaml:  version: $version" \
  "config/manager/manager.yaml:        image: $base:v$version" "config/apiserver/deployment.yaml:        image: $base:v$version" \
  "charts/darkroom-operator/Chart.yaml:      image: $base:v$version" \
  "CHANGELOG.md:## \[$version\]"; do
  grep -q "^${place#*:}" "${place%%:*}" || {
    # A snapshot is created between two releases.
    [[ $version == *-* ]] || { echo "${place%%:*} has no line \"${place#*:}\": see docs/release.md" >&2; exit 1; }
  }
done

rm -rf "$files" && mkdir -p "$files"
work=$(mktemp -d bin/release.XXXXXX)
trap 'rm -rf "$work"' EXIT
for overlay in default with-apiserver; do
  folder=config/default name=install
  if [[ $overlay != default ]]; then folder=config/overlays/$overlay name=install-$overlay; fi
  printf 'resources:\n- ../../%s\nimages:\n- name: %s\n  newTag: v%s\n' "$folder" "$base" "$version" > "$work/kustomization.yaml"
  bin/tools/kustomize build "$work" > "$files/$name.yaml"
done
bin/tools/kustomize build config/monitoring > "$files/monitoring.yaml"
cp config/crd/bases/deployments.example.com_darkrooms.yaml "$files/crd.yaml"
tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner -czf "$files/bundle.tar.gz" -C "${OLM_DIR:-.}" bundle bundle.Dockerfile catalog
# The charts as `helm package` packs them: a folder with the name of the chart.
for chart in darkroom-operator:charts/darkroom-operator darkroom:helm-charts/darkroom; do
  folder=${chart#*:} chart=${chart%%:*}
  number=$(sed -n 's/^version: //p' "$folder/Chart.yaml")
  tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --dereference \
    --exclude=ci --exclude=kustomization.yaml --exclude=references.yaml \
    --transform "s|^$folder|$chart|" -czf "$files/$chart-chart-$number.tgz" "$folder"
done
# The licenses of the programs' dependencies, for their archives.
{ gate/notices.sh .; node hack/notices.mjs web; } > bin/NOTICES
echo "made $(find "$files" -type f | wc -l) files in $files"
