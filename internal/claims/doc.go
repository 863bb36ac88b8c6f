// Package claims decides which Darkroom a host belongs to: the oldest Darkroom that claims
// it, in all namespaces that the operator watches.
//
// The decision on one host is a pure function (decide.go) of the caches (index.go) and of
// the assignments by this process (ledger.go). A host changes hands in two steps: first the
// loser removes it from its Ingress and HTTPRoute, then the winner gets it. No host is ever
// routed to two Darkrooms.
package claims
