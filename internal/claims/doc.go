// Package claims decides which Darkroom a host belongs to: the oldest that claims
// it, over all namespaces that the operator sees.
//
// The decision on one host is a pure function (decide.go) of what the caches show
// (index.go) and of what this process gave away itself (ledger.go). A host changes
// hands in two steps: the one that loses it drops it from its Ingress or HTTPRoute,
// and only then the other gets it. So no two of them carry one host at any moment.
package claims
