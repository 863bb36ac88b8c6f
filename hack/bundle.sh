#!/usr/bin/env bash
# Makes OLM's bundle of a version: hack/bundle.sh VERSION IMAGE FOLDER [REPLACES].
# FOLDER receives bundle/ and bundle.Dockerfile. The same input gives the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$1 image=$2 folder=$3 replaces=${4:-}
root=$PWD
csv=config/manifests/bases/darkroom-operator.clusterserviceversion.yaml

work=$(mktemp -d bin/bundle.XXXXXX)
trap 'rm -rf "$root/$work"' EXIT
cat > "$work/kustomization.yaml" <<END
resources:
- ../../config/manifests
images:
- name: controller
  newName: ${image%:*}
  newTag: ${image##*:}
patches:
- target: {kind: ClusterServiceVersion}
  patch: |
    - {op: replace, path: /metadata/annotations/containerImage, value: "$image"}
END
if [[ $replaces ]]; then
  echo "    - {op: add, path: /spec/replaces, value: \"$replaces\"}" >> "$work/kustomization.yaml"
fi
bin/tools/kustomize build "$work" > "$work/manifests.yaml"

mkdir "$work/out"
(
  cd "$work/out"
  "$root/bin/tools/operator-sdk" generate bundle --quiet --overwrite --package darkroom-operator \
    --version "$version" --channels alpha --default-channel alpha 2> ../log < <(cat ../manifests.yaml) ||
    { cat ../log >&2; exit 1; }
)
# operator-sdk writes the present time; that of the base changes only with the base.
created=$(sed -n 's/^ *createdAt: *//p' "$csv")
sed -i.old "s/^\( *createdAt:\) .*/\1 $created/" "$work"/out/bundle/manifests/*.clusterserviceversion.yaml
rm "$work"/out/bundle/manifests/*.old

# What consoles and registries read besides.
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
