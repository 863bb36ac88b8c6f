// Package install tests the ways of installing the operator: what kustomize builds of
// config/ is applied to a real API server, and the operator's chart is held against it.
// The end-to-end tests run what is installed; see test/olm for the lifecycle manager.
package install
