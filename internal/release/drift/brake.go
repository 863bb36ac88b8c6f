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
	// quietPeriod is the time between two applies that change nothing, from ContestedAfter on.
	quietPeriod = time.Second
	// brakeRelease is how long an object must rest to be repaired at once again.
	brakeRelease = 20 * time.Minute
)

// brake counts and delays the repairs of one object.
type brake struct {
	repairs int
	// quiet is the number of applies in a row that changed nothing.
	quiet  int
	last   time.Time
	until  time.Time
	writer string
}

// Hold is an object that is not restored for a while.
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
}

func (b *brake) hold(object manifest.Key) Hold {
	return Hold{object, b.writer, b.repairs, b.until, b.quiet == 0}
}

// Repaired remembers that an object was restored after a change by a writer, which may be
// unknown. It returns the hold that this causes; false if the next repair would be immediate.
func (m *Memory) Repaired(object manifest.Key, writer string, now time.Time) (Hold, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b := m.brakeOf(object, now)
	b.repairs++
	b.quiet = 0
	if writer != "" {
		b.writer = writer
	}
	if b.repairs < ContestedAfter {
		return Hold{}, false
	}
	delay := brakeMost
	if doublings := b.repairs - ContestedAfter; doublings < 6 {
		delay = min(brakeLeast<<doublings, brakeMost)
	}
	b.until = now.Add(delay)
	return b.hold(object), true
}

// Confirmed remembers that the apply of an object changed nothing: others had written what they
// may, such as an annotation. One that does so all the time must not cause as many applies.
func (m *Memory) Confirmed(object manifest.Key, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b := m.brakeOf(object, now)
	if b.quiet++; b.quiet >= ContestedAfter {
		b.until = now.Add(quietPeriod)
	}
}

// brakeOf returns the brake of an object that is applied now. The caller holds the lock.
func (m *Memory) brakeOf(object manifest.Key, now time.Time) *brake {
	if m.brakes == nil {
		m.brakes = map[manifest.Key]*brake{}
	}
	b := m.brakes[object]
	if b == nil || now.Sub(b.last) > brakeRelease {
		b = &brake{}
		m.brakes[object] = b
	}
	b.last = now
	return b
}

// Held reports whether an object is not to be restored now.
func (m *Memory) Held(object manifest.Key, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	b := m.brakes[object]
	return b != nil && now.Before(b.until)
}

// Holds returns the objects of a release that are not to be restored now, ordered by kind and
// name.
func (m *Memory) Holds(now time.Time) []Hold {
	m.mu.Lock()
	defer m.mu.Unlock()
	var holds []Hold
	for object, b := range m.brakes {
		if now.Before(b.until) {
			holds = append(holds, b.hold(object))
		}
	}
	slices.SortFunc(holds, func(a, b Hold) int { return strings.Compare(a.Object.String(), b.Object.String()) })
	return holds
}
