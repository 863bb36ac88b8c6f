// Package restore notices that etcd was restored from a backup: the API server's resource version, which counts writes,
// is lower than before. A watch that resumes then starts at a version of the future, and misses all events until the
// counter has passed it. Who watches must read everything again.
package restore

import "strconv"

// Versions are the resource versions of an API server so far.
type Versions struct {
	highest uint64
}

// Highest returns the highest version so far.
func (v *Versions) Highest() uint64 { return v.highest }

// WentBack takes note of a version, and reports whether it is lower than an earlier one. A version that is not
// a number is not etcd's, and counts for nothing.
func (v *Versions) WentBack(version string) bool {
	now, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		return false
	}
	if now < v.highest {
		return true
	}
	v.highest = now
	return false
}
