#!/usr/bin/env bash
# Copies what the operator's chart takes from config/ as it is: the CRD, the rules of the
# roles, policies, monitors and dashboards. hack/chart.sh FOLDER; the folder is the chart's files/.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=$1
rm -rf "$folder"
mkdir -p "$folder/network-policy" "$folder/prometheus" "$folder/grafana"
cp config/crd/bases/deployments.example.com_darkrooms.yaml "$folder/crd.yaml"
for role in role metrics_auth_role leader_election_role darkroom_admin_role \
  darkroom_editor_role darkroom_viewer_role; do
  cp "config/rbac/$role.yaml" "$folder/"
done
cp config/rbac/metrics-reader/role.yaml "$folder/metrics_reader_role.yaml"
cp config/apiserver/role.yaml "$folder/apiserver_role.yaml"
cp config/apiserver/auth_role.yaml "$folder/apiserver_auth_role.yaml"
cp config/admission/inline_keys.yaml "$folder/"
cp config/overlays/with-probe-via-apiserver/role.yaml "$folder/probe_proxy_role.yaml"
for part in network-policy prometheus; do
  find "config/$part" -name '*.yaml' ! -name kustomization.yaml -exec cp {} "$folder/$part/" \;
done
cp config/grafana/*.json "$folder/grafana/"
