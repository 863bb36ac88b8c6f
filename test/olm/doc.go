// Package olm tests that the Operator Lifecycle Manager installs, upgrades and removes
// the operator, in versions 0 and 1; and so do kustomize and Helm, as deploy_test.go tells.
//
// Upgrades start from an earlier release, made of its own source (hack/previous.sh).
//
// bundle_test.go checks the bundle with the validators that catalogs use. The rest needs a real node and has the
// build tag e2e: `make e2e-olm` starts one. There, the lifecycle managers run as pods, deployed by their own
// manifests, of images that are made of their static programs. They deploy the operator, also as a pod, with the
// ServiceAccounts and rights that they give it. Nothing is pulled: the catalog of version 0 has the bundles within,
// and version 1 pulls from a registry that the tests run at the node's address.
package olm
