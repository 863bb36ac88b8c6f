//go:build e2e

// Package e2e tests the operator on a Kubernetes cluster with a real node, where pods run, serve images, crash and are
// replaced by rollouts.
//
// The operator is a process of the built binary. It is started with a token of its own ServiceAccount, so it has
// exactly the permissions in config/default. Darkroom is replaced by the stand-in in test/standins/darkroom. Images
// come from the servers in test/standins/sources, which run as pods. `make e2e` builds everything, starts a cluster for
// the tests, and stops it afterwards.
//
// Requests enter through the cluster's ingress controller and through Gateways of Traefik, which runs as a process with
// its own ServiceAccount.
//
// main_test.go contains the shared setup. Each other file contains the tests of one topic. Tests that need the machine
// for themselves run one after the other, before the parallel tests.
//
// Environment: KUBECONFIG and INGRESS_URL as set by `cluster exec`, or for an existing cluster; LOAD, the command that
// loads an image archive into the nodes (default: `cluster load`); BIN_DIR, the folder of the binaries.
package e2e
