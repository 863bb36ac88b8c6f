// Package controller wires the two controllers of the operator.
//
// The Helm controller (helm.go) drives the reconciler of helm-operator-plugins, which turns
// a Darkroom into a release. Its client (session.go) reads Darkrooms from the typed cache
// and writes the status with one server-side apply of the controller's own fields.
//
// The status controller (package status) reports the observed state.
//
// Package caches lists the watched kinds and how much of each is cached. cluster.go knows
// which of the kinds and APIs that a cluster may lack it serves.
package controller
