// Package drift decides, without a request, whether the objects of a release still are as
// they were applied.
//
// For each object of each release it remembers what was applied and the object's state
// right after (memory.go, state.go). While the cache shows the same, the object needs
// nothing. The memory outlives the process as a record beside the release (record.go).
// Which fields of others are removed from an object, and which stay, is in fields.go.
// An object that another writer keeps changing is restored less and less often
// (brake.go).
package drift
