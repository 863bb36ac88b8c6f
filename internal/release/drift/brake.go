package drift

import (
	"slices"
	"strings"
	"time"

	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
)

// The brake slows down repairs of an object that another writer keeps changing. The first repairs are immediate, so
// that a user who edits the object by mistake notices at once. After that, each repair doubles the delay before the
// next one.
const (
	// ContestedAfter is the number of immediate repairs. The last one starts the contest.
	ContestedAfter = 4
	// brakeLeast and brakeMost are the minimum and maximum delay between repairs during a contest.
	brakeLeast = 15 * time.Second
	brakeMost  = 10 * time.Minute
	// quietPeriod is the minimum delay after an apply that changed nothing.
	quietPeriod = time.Second
	// brakeRelease is the time without repairs after which an object is repaired immediately again.
	brakeRelease = 20 * time.Minute
)

// Hold counts and delays the repairs of one object.
type Hold struct {
	Object manifest.Key
	// Writer is the field manager that changed the object; empty if unknown.
	Writer string
	// Repairs is the number of consecutive repairs.
	Repairs int
	// Until is the earliest time of the next repair.
	Until time.Time
	// Contested is set if another writer keeps changing fields of the operator.
	Contested bool

	// last is the time of the last apply.
	last time.Time
}

// Repaired records a repair of an object after a change by a writer, which may be unknown. It returns the resulting
// hold; false if the next repair may be immediate.
func (m *Memory) Repaired(object manifest.Key, writer string, now time.Time) (Hold, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	hold := m.holdOf(object, now)
	hold.Repairs++
	hold.Contested = true
	if writer != "" {
		hold.Writer = writer
	}
	if hold.Repairs < ContestedAfter {
		return Hold{}, false
	}
	hold.Until = now.Add(min(brakeLeast<<min(hold.Repairs-ContestedAfter, 6), brakeMost))
	return *hold, true
}

// Confirmed records an apply that changed nothing, because other clients had changed only allowed fields, such as an
// annotation. The hold limits the number of applies if this happens often.
func (m *Memory) Confirmed(object manifest.Key, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	hold := m.holdOf(object, now)
	hold.Contested = false
	if next := now.Add(quietPeriod); hold.Until.Before(next) {
		hold.Until = next
	}
}

// holdOf returns the hold of an object that is being applied. The caller must hold the lock.
func (m *Memory) holdOf(object manifest.Key, now time.Time) *Hold {
	if m.holds == nil {
		m.holds = map[manifest.Key]*Hold{}
	}
	hold := m.holds[object]
	if hold == nil || now.Sub(hold.last) > brakeRelease {
		hold = &Hold{Object: object}
		m.holds[object] = hold
	}
	hold.last = now
	return hold
}

// Held reports whether the repair of an object is delayed.
func (m *Memory) Held(object manifest.Key, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	hold := m.holds[object]
	return hold != nil && now.Before(hold.Until)
}

// Holds returns the holds of objects whose repair is delayed, ordered by kind and name.
func (m *Memory) Holds(now time.Time) []Hold {
	m.mu.Lock()
	defer m.mu.Unlock()
	var holds []Hold
	for _, hold := range m.holds {
		if now.Before(hold.Until) {
			holds = append(holds, *hold)
		}
	}
	slices.SortFunc(holds, func(a, b Hold) int { return strings.Compare(a.Object.String(), b.Object.String()) })
	return holds
}
