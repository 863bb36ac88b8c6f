#!/usr/bin/env bash
# Runs a command with its own kind cluster: `make e2e` calls it if kind is installed and a container engine runs. The
# command receives KUBECONFIG, LOAD and INGRESS_URL (CONTRIBUTING.md).
set -euo pipefail
cd "$(dirname "$0")/.."

name=darkroom-e2e work=$(mktemp -d)
trap 'kind delete cluster --name "$name" > "$work/log" 2>&1 || cat "$work/log"; rm -rf "$work"' EXIT
export KUBECONFIG=$work/kubeconfig LOAD="kind load image-archive --name $name" INGRESS_URL=http://127.0.0.1:8085
kind create cluster --name "$name" --wait 120s --config - <<'END'
apiVersion: kind.x-k8s.io/v1alpha4
kind: Cluster
nodes:
- role: control-plane
  extraPortMappings: [{containerPort: 80, hostPort: 8085, listenAddress: 127.0.0.1}]
END

# The ingress controller is the same as in the other test clusters.
bin/cluster image --output "$work/traefik.tar" --user 0 docker.io/darkroom-e2e/traefik:v1=bin/k8s/traefik
$LOAD "$work/traefik.tar"
kubectl apply -f hack/kind/traefik.yaml
kubectl -n kube-system rollout status deployment/traefik --timeout=60s
"$@"
