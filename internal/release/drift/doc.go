// Package drift decides without requests whether the objects of a release are still in the state in which they were
// applied. internal/release/repair.go repairs those that are not.
//
// For each object the package records what was applied and the resulting state (drift.go, state.go). While the cache
// shows the same state, nothing has to be done. A restarted operator recalls the states by a digest in the status of
// the Darkroom. fields.go decides which fields of other managers are removed from an object. An object that another
// writer keeps changing is repaired at growing intervals (brake.go).
package drift
