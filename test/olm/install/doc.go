// Package install tests the ways of installing the operator: the output of kustomize for config/ is applied to a real
// API server, and the operator's chart is compared with it. The end-to-end tests run the installed operator; for the
// lifecycle manager see test/olm.
package install
