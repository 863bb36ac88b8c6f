//go:build chaos

// Package chaos injects faults into the API server, etcd, and the process, the records and
// the resources of the operator. After each fault it waits for recovery: every Darkroom is
// ready, and there are no orphans, no pending releases and no leftover finalizers. `make
// chaos` runs it on a local cluster with simulated nodes and prints a table of injected
// faults and observed effects.
//
// It also tests the operator in a cluster that is shared with other users, other
// controllers and other Helm releases, all of which act at once, in random order. Foreign
// objects must not be changed. internal/controller tests the conflicts one by one.
//
// main_test.go contains the setup and starts operators, faults_test.go and releases_test.go the
// faults and the table, state_test.go the checks of the state. crowd_test.go tests a shared
// cluster: ledger_test.go records foreign objects, foreign_test.go contains foreign Helm
// releases, neighbors_test.go other controllers, users_test.go actions of users.
//
// Environment: KUBECONFIG and CLUSTER_DIR as `cluster exec` sets them, BIN_DIR; CHAOS_CROWD (how
// long the users of the crowd act, default 90s), CHAOS_SEED.
package chaos
