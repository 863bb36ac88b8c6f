//go:build e2e

// Package e2e tests the operator on a Kubernetes cluster with a real node: pods run, serve
// images, crash and are replaced by rollouts.
//
// The operator is a process of the built binary. It has the rights that
// config/default gives it and no others, because it is started with a token of its
// own ServiceAccount. Darkroom is the stand-in of test/standins/darkroom, and images come
// from the servers of test/standins/sources, which run as pods. `make e2e` builds all of it,
// starts a cluster for the tests, and stops it afterwards.
//
// Requests enter through the cluster's ingress controller and through Gateways
// of Traefik, which runs as a process under a ServiceAccount of its own.
//
// main_test.go contains the setup that all tests share; each other file contains the tests of
// one concern. Tests that need the machine for themselves run one after the other, before those
// that run in parallel.
//
// Environment: KUBECONFIG and INGRESS_URL as `cluster exec` sets them, or those of an
// existing cluster; LOAD, the command that loads the archive of an image into its nodes, by
// default `cluster load`; BIN_DIR, the folder of the binaries.
package e2e
