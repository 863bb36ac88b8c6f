//go:build chaos

// Package chaos breaks what the operator stands on – API server, etcd, its own
// process, its records, its resources – and waits each time until everything is as
// it should be again: every Darkroom ready, no orphan, no release under way, no
// finalizer left. `make chaos` runs it on a local cluster with simulated nodes and
// prints a table of what was put in and what was seen; docs/reliability.md keeps one.
//
// main_test.go sets up and prints, faults_test.go is the list of faults, state_test.go
// tells what is wrong, operator_test.go has the processes.
//
// Environment: KUBECONFIG and CLUSTER_DIR as `cluster exec` sets them, BIN_DIR;
// CHAOS_OPERATIONS (default 200), CHAOS_SEED.
package chaos
