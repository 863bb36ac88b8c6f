#!/usr/bin/env bash
# Deletes all Darkrooms, if the cluster has their CRD: hack/delete-darkrooms.sh CRD [INSTALLATION]
# With INSTALLATION it refuses while another installation has Darkrooms. KUBECTL is the command to use.
set -euo pipefail

crd=$1 installation=${2:-}
$KUBECTL get -f "$crd" > /dev/null 2>&1 || exit 0
if [[ $installation ]]; then
  others=$($KUBECTL get darkrooms --all-namespaces \
    -o jsonpath="{range .items[?(@.status.installation!=\"$installation\")]}{.metadata.namespace}/{.metadata.name} {end}")
  [[ -z $others ]] || {
    echo "not undeployed: the CRD goes with all Darkrooms, and these are not of the installation $installation: $others" \
      "(docs/operations.md, Several installations)"
    exit 1
  }
fi
$KUBECTL delete darkrooms --all --all-namespaces
