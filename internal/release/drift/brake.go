package drift

import (
	"slices"
	"strings"
	"time"

	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
)

// The brake slows down a fight with another writer. The first repairs of an object are
// made at once: a person who edits it by mistake should see that at once. From then on
// each repair doubles the time until the next one.
const (
	// ContestedAfter is the number of immediate repairs; the last of them begins a contest.
	ContestedAfter = 4
	// brakeLeast and brakeMost bound the time between two repairs from then on.
	brakeLeast = 15 * time.Second
	brakeMost  = 10 * time.Minute
	// quietPeriod is the least time after an apply that changed nothing.
	quietPeriod = time.Second
	// brakeRelease is how long an object must rest to be repaired at once again.
	brakeRelease = 20 * time.Minute
)

// Hold counts and delays the repairs of one object.
type Hold struct {
	Object manifest.Key
	// Writer is the field manager that changed it; empty if that is not known.
	Writer string
	// Repairs is how often the object was restored in a row.
	Repairs int
	// Until is when it will be restored next if it still differs.
	Until time.Time
	// Contested is set if another writer keeps changing what it may not change.
	Contested bool

	// last is the time of the last apply.
	last time.Time
}

// Repaired remembers that an object was restored after a change by a writer, which may be
// unknown. It returns the hold that this causes; false if the next repair would be immediate.
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

// Confirmed remembers that the apply of an object changed nothing: others had written what they
// may, such as an annotation. One that does so all the time must not cause as many applies.
func (m *Memory) Confirmed(object manifest.Key, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	hold := m.holdOf(object, now)
	hold.Contested = false
	if next := now.Add(quietPeriod); hold.Until.Before(next) {
		hold.Until = next
	}
}

// holdOf returns the hold of an object that is applied now. The caller holds the lock.
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

// Held reports whether an object is not to be restored now.
func (m *Memory) Held(object manifest.Key, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	hold := m.holds[object]
	return hold != nil && now.Before(hold.Until)
}

// Holds returns the objects of a release that are not to be restored now, ordered by kind and
// name.
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
