// Package histories tests the operator with histories: random sequences of steps by the owners of
// Darkrooms, hostile tenants, other controllers, the platform team and a failing API server,
// against a real kube-apiserver.
//
// Steps (owner_test.go, fields_test.go, plainchart_test.go, hostile_test.go, others_test.go, platform_test.go,
// leases_test.go, lease_test.go, shards_test.go, balancer_test.go, webhooks_test.go) only act. Invariants
// (invariants_test.go) only check: some after every step, and some once the cluster is at rest. So a new fault requires
// only one step or one invariant. A history that violates an invariant is shortened, and printed as sentences that can
// be typed.
//
// Only a few kinds of steps take part in a history: a random choice, and all kinds related to its opening. Histories
// share an API server.
//
// `make test` runs fixed seeds; `make histories FOR=1h` runs as many random ones as fit into the time, starting at the
// seed FIRST if it is set; `make histories SEED=7` repeats one. FOCUS is a regular expression that selects histories
// with a matching step. Messages omit the namespace suffix from the names of objects.
package histories
