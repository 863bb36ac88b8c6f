#!/usr/bin/env bash
# Checks that what is generated or derived is fresh, without touching the tree:
# regenerates into a temporary folder and compares. Arguments: the modules whose
# go.mod is checked. Called by `make verify`, which builds the tools.
set -euo pipefail
cd "$(dirname "$0")/.."

tools=bin/tools
crd=config/crd/bases/deployments.example.com_darkrooms.yaml
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
stale=()

compare() { # committed file, fresh file
  diff -u --label "$1" --label "$1 (regenerated)" "$1" "$2" || stale+=("$1")
}

echo "verify: generated files"
"$tools/controller-gen" crd paths=./api/... output:crd:dir="$fresh"
"$tools/controller-gen" rbac:roleName=manager-role paths=./internal/controller output:rbac:dir="$fresh"
"$tools/controller-gen" object:headerFile=hack/boilerplate.go.txt paths=./api/... output:object:dir="$fresh"
go run ./hack/apidocs "$fresh/$(basename "$crd")" > "$fresh/api.md"
go run ./hack/descriptors "$fresh/$(basename "$crd")" > "$fresh/descriptors.yaml"
compare "$crd" "$fresh/$(basename "$crd")"
compare config/manifests/descriptors.yaml "$fresh/descriptors.yaml"
compare config/rbac/role.yaml "$fresh/role.yaml"
compare api/v1alpha1/zz_generated.deepcopy.go "$fresh/zz_generated.deepcopy.go"
compare docs/api.md "$fresh/api.md"
if ((${#stale[@]})); then
  echo "stale: ${stale[*]}: run make generate" >&2
fi

echo "verify: config/"
while read -r file; do
  part=$(dirname "$file")
  grep -q '^kind: Component$' "$file" && continue
  "$tools/kustomize" build "$part" > /dev/null || stale+=("$part")
done < <(git ls-files 'config/**/kustomization.yaml')

echo "verify: bundle/ and catalog/"
for name in bundle catalog; do
  hack/fresh.sh check "$name" || stale+=("$name")
done

echo "verify: charts/darkroom-operator"
hack/chart.sh "$fresh/chart"
diff -ru charts/darkroom-operator/files "$fresh/chart" || { stale+=(charts/darkroom-operator/files); echo "stale: charts/darkroom-operator/files: run make chart" >&2; }

for module in "$@"; do
  echo "verify: go mod tidy: $module"
  if ! go -C "$module" mod tidy -diff; then
    echo "$module/go.mod or go.sum is not tidy: run go mod tidy there" >&2
    stale+=("$module/go.mod")
  fi
done

if ((${#stale[@]})); then
  exit 1
fi
