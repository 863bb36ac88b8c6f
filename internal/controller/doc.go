// Package controller wires the two controllers of the operator.
//
// The Helm controller (helm.go) drives the reconciler of helm-operator-plugins,
// which turns a Darkroom into a release. That reconciler is given a client
// (helmclient.go) through which it sees Darkrooms from the typed cache, and through
// which its status becomes one server-side apply of nothing but its own part.
//
// The status controller of package status reports on what is live.
//
// watched.go says which kinds both of them watch, and how little of each is cached;
// kinds.go follows those that a cluster may gain or lose.
package controller
