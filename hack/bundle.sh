#!/usr/bin/env bash
# Generates OLM's bundle of a version: hack/bundle.sh VERSION IMAGE FOLDER [REPLACES]. FOLDER receives bundle/ and
# bundle.Dockerfile. The same input produces the same bytes. DARKROOM_IMAGE and GATE_IMAGE replace the images of
# Darkrooms.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$1 image=$2 folder=$3 replaces=${4:-}
root=$PWD
csv=config/manifests/bases/darkroom-operator.clusterserviceversion.yaml
related() { sed -n "/RELATED_IMAGE_$1/{n; s/^ *value: //p}" config/manifests/olm_manager.yaml; }
darkroom=${DARKROOM_IMAGE:-$(related DARKROOM)} gate=${GATE_IMAGE:-$(related GATE)}
case $image in
  *@*) name=${image%%@*} pin="digest: ${image#*@}" ;;
  *) name=${image%:*} pin="newTag: ${image##*:}" ;;
esac

work=$(mktemp -d bin/bundle.XXXXXX)
trap 'rm -rf "$root/$work"' EXIT
cat > "$work/kustomization.yaml" <<END
resources:
- ../../config/manifests
images:
- name: ghcr.io/darkroom-operator/darkroom-operator
  newName: $name
  $pin
patches:
- target: {kind: ClusterServiceVersion}
  patch: |
    - {op: replace, path: /metadata/annotations/containerImage, value: "$image"}
END
if [[ $replaces ]]; then
  echo "    - {op: add, path: /spec/replaces, value: \"$replaces\"}" >> "$work/kustomization.yaml"
fi
bin/tools/kustomize build "$work" | sed -e "s|value: $(related DARKROOM)$|value: $darkroom|" \
  -e "s|value: $(related GATE)$|value: $gate|" > "$work/manifests.yaml"

mkdir "$work/out"
(
  cd "$work/out"
  "$root/bin/tools/operator-sdk" generate bundle --quiet --overwrite --package darkroom-operator \
    --version "$version" --channels alpha --default-channel alpha 2> ../log < <(cat ../manifests.yaml) ||
    { cat ../log >&2; exit 1; }
)
# operator-sdk writes the current time; the time of the base changes only with the base. Among the related images it
# lists only the images in variables, and tools that mirror a bundle read this list.
created=$(sed -n 's/^ *createdAt: *//p' "$csv")
sed -i.old -e "s/^\( *createdAt:\) .*/\1 $created/" \
  -e "s|^  relatedImages:$|&\n  - image: $image\n    name: darkroom-operator|" "$work"/out/bundle/manifests/*.clusterserviceversion.yaml
rm "$work"/out/bundle/manifests/*.old

# Labels and annotations for consoles and registries.
for file in "$work"/out/bundle/{metadata/annotations,manifests/*.clusterserviceversion}.yaml "$work/out/bundle.Dockerfile"; do
  sed -i.old 's|\(project_layout[:=] *\)unknown|\1hybrid.helm.sdk.operatorframework.io/v1-alpha|' "$file"
done
find "$work/out" -name '*.old' -delete
cat >> "$work/out/bundle/metadata/annotations.yaml" <<'END'

  # The range of OpenShift releases that the operator is for (Kubernetes 1.30 and later).
  com.redhat.openshift.versions: v4.17
END
cat >> "$work/out/bundle.Dockerfile" <<'END'
LABEL com.redhat.openshift.versions=v4.17
LABEL org.opencontainers.image.source="https://github.com/darkroom-operator/darkroom-operator"
LABEL org.opencontainers.image.licenses="Apache-2.0"
END

mkdir -p "$folder"
rm -rf "$folder/bundle" "$folder/bundle.Dockerfile"
mv "$work/out/bundle" "$work/out/bundle.Dockerfile" "$folder/"
