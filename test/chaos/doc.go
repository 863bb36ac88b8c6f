//go:build chaos

// Package chaos breaks what the operator stands on – API server, etcd, its own
// process, its records, its resources – and waits each time until everything is as
// it should be again: every Darkroom ready, no orphan, no release under way, no
// finalizer left. `make chaos` runs it on a local cluster with simulated nodes and
// prints a table of what was put in and what was seen; docs/reliability.md keeps one.
//
// It also puts the operator into a cluster that it shares with other users, other
// controllers and other Helm releases: TestSharing has the conflicts one by one,
// TestACrowdedClusterIsSharedSafely all of them at once, in random order. What belongs
// to others must be as they left it.
//
// main_test.go sets up and prints, faults_test.go is the list of faults, state_test.go
// tells what is wrong, operator_test.go has the processes. crowd_test.go and
// sharing_test.go are the tests of a shared cluster: ledger_test.go records what others
// own, foreign_test.go is their use of Helm, neighbours_test.go their controllers,
// users_test.go what people do, contest_test.go a controller that contests one object,
// witness_test.go a proxy that records what the operator writes.
//
// Environment: KUBECONFIG and CLUSTER_DIR as `cluster exec` sets them, BIN_DIR;
// CHAOS_OPERATIONS (default 200), CHAOS_CROWD, the time for which the users of the
// crowd act (default 2m), CHAOS_SEED.
package chaos
