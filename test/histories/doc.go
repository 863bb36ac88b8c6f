// Package histories tests the operator with histories: random sequences of steps by the owners of
// Darkrooms, hostile tenants, other controllers, the platform team and a failing API server,
// against a real kube-apiserver.
//
// Steps (owner_test.go, fields_test.go, plainchart_test.go, hostile_test.go, others_test.go, platform_test.go,
// leases_test.go, lease_test.go, shards_test.go, balancer_test.go, webhooks_test.go) only act. Invariants
// (invariants_test.go) only judge: some after every step, and some once the cluster is at rest. A new fault
// therefore costs one step or one invariant. A history that violates an invariant is shortened, and printed as
// sentences that can be typed.
//
// Few kinds of steps take part in a history: a random choice, and all those that its opening is about.
// Histories share an API server.
//
// `make test` runs fixed seeds; `make histories FOR=1h` runs as many random ones as fit, or those from FIRST on, and
// `make histories SEED=7` one again; with FOCUS='quota' those only that have a step with this word, a regular
// expression. Objects of the histories have the suffix of their namespaces left out in messages.
package histories
