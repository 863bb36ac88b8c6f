// Package olm tests that the Operator Lifecycle Manager, in versions 0 and 1, installs, upgrades and removes the
// operator. deploy_test.go tests the same for kustomize and Helm.
//
// Upgrades start from an earlier release, built from its own source (hack/previous.sh).
//
// bundle_test.go checks the bundle with the validators that catalogs use. The other tests need a real node and have the
// build tag e2e: `make e2e-olm` starts one. There, the lifecycle managers run as pods, deployed by their own manifests,
// with images that contain their static programs. They deploy the operator, also as a pod, with the ServiceAccounts and
// permissions that they grant it. Nothing is pulled from outside: the catalog of version 0 contains the bundles, and
// version 1 pulls from a registry that the tests run at the node's address.
package olm
