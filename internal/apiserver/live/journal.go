package live

import (
	"cmp"
	"context"
	"crypto/rand"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// Kinds of change.
const (
	Added    = "added"
	Modified = "modified"
	Deleted  = "deleted"
)

// Change is one entry of the journal.
type Change struct {
	Kind     string
	Darkroom *v1alpha1.Darkroom
	// Size is the size of the response for the Darkroom, in bytes of JSON.
	size int
}

// maxKept bounds the changes that the journal keeps, in bytes. It is reached before the
// ring is full if Darkrooms are large.
const maxKept = 16 << 20

// Journal holds the current Darkrooms and the latest changes. Its objects are shared by all
// readers and never modified.
//
// A reader has a position and asks for later changes. The journal never waits for readers:
// it keeps a fixed number of changes, and reports when a reader has fallen further behind.
type Journal struct {
	measure func(*v1alpha1.Darkroom) int
	// epoch distinguishes positions of this process from those of another.
	epoch string

	mu    sync.Mutex
	state map[types.NamespacedName]*v1alpha1.Darkroom
	ring  []Change
	// sizes holds the size of each Darkroom.
	sizes map[types.NamespacedName]int
	// The ring holds the changes from first up to, and without, next; kept is the sum
	// of their sizes.
	first, next uint64
	kept        int
	// wake is closed and replaced with each change.
	wake chan struct{}
}

// NewJournal returns a journal of a number of changes. measure returns the size of the response for a
// Darkroom, in bytes.
func NewJournal(changes int, measure func(*v1alpha1.Darkroom) int) *Journal {
	return &Journal{
		epoch:   rand.Text()[:8],
		state:   map[types.NamespacedName]*v1alpha1.Darkroom{},
		sizes:   map[types.NamespacedName]int{},
		ring:    make([]Change, changes),
		measure: measure,
		wake:    make(chan struct{}),
	}
}

// KeyOf returns the key of a Darkroom.
func KeyOf(darkroom *v1alpha1.Darkroom) types.NamespacedName {
	return types.NamespacedName{Namespace: darkroom.Namespace, Name: darkroom.Name}
}

// Put records the current state of a Darkroom, if it differs from the previous one.
func (j *Journal) Put(darkroom *v1alpha1.Darkroom) {
	size := j.measure(darkroom)
	j.mu.Lock()
	defer j.mu.Unlock()
	key := KeyOf(darkroom)
	before, found := j.state[key]
	switch {
	case !found:
		j.append(Change{Added, darkroom, size})
	case before.UID != darkroom.UID:
		// Deleted and created again between two events.
		j.append(Change{Deleted, before, j.sizes[key]})
		j.append(Change{Added, darkroom, size})
	case before.ResourceVersion != darkroom.ResourceVersion:
		j.append(Change{Modified, darkroom, size})
	}
	j.state[key], j.sizes[key] = darkroom, size
}

// Bytes returns the size of a Darkroom as clients get it.
func (j *Journal) Bytes(key types.NamespacedName) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.sizes[key]
}

// Remove records that a Darkroom is gone.
func (j *Journal) Remove(key types.NamespacedName) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if before, found := j.state[key]; found {
		j.append(Change{Deleted, before, j.sizes[key]})
		delete(j.state, key)
		delete(j.sizes, key)
	}
}

// append needs the lock.
func (j *Journal) append(c Change) {
	size := uint64(len(j.ring))
	for j.next-j.first == size || j.first < j.next && j.kept+c.size > maxKept {
		oldest := &j.ring[j.first%size]
		j.kept -= oldest.size
		*oldest = Change{}
		j.first++
	}
	j.ring[j.next%size] = c
	j.kept += c.size
	j.next++
	close(j.wake)
	j.wake = make(chan struct{})
}

// Get returns a Darkroom, or nil.
func (j *Journal) Get(key types.NamespacedName) *v1alpha1.Darkroom {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.state[key]
}

// All returns the Darkrooms, sorted by namespace and name, and the position at which
// they are so.
func (j *Journal) All() ([]*v1alpha1.Darkroom, uint64) {
	j.mu.Lock()
	out := make([]*v1alpha1.Darkroom, 0, len(j.state))
	for _, darkroom := range j.state {
		out = append(out, darkroom)
	}
	position := j.next
	j.mu.Unlock()
	slices.SortFunc(out, func(a, b *v1alpha1.Darkroom) int { return CompareKeys(KeyOf(a), KeyOf(b)) })
	return out, position
}

// CompareKeys orders keys by namespace and name.
func CompareKeys(a, b types.NamespacedName) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// After returns the changes since a position, the next position, and a channel that is
// closed at the next change. It returns false if some of the changes are no longer kept.
func (j *Journal) After(position uint64) (changes []Change, next uint64, more <-chan struct{}, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	size := uint64(len(j.ring))
	if position > j.next || position < j.first {
		return nil, j.next, j.wake, false
	}
	for at := position; at < j.next; at++ {
		changes = append(changes, j.ring[at%size])
	}
	return changes, j.next, j.wake, true
}

// ID encodes a position for clients.
func (j *Journal) ID(position uint64) string {
	return j.epoch + "-" + strconv.FormatUint(position, 10)
}

// Position decodes an id. It returns false for an id of another process or an invalid one.
func (j *Journal) Position(id string) (uint64, bool) {
	epoch, number, found := strings.Cut(id, "-")
	if !found || epoch != j.epoch {
		return 0, false
	}
	position, err := strconv.ParseUint(number, 10, 64)
	return position, err == nil
}

// Await waits until the journal has a Darkroom at a resource version or later, so that
// reads reflect the caller's own writes. It ends with the context.
func (j *Journal) Await(ctx context.Context, key types.NamespacedName, version string) {
	j.await(ctx, key, func(seen *v1alpha1.Darkroom) bool {
		if seen == nil {
			return false
		}
		order, err := resourceversion.CompareResourceVersion(seen.ResourceVersion, version)
		return err != nil || order >= 0
	})
}

// AwaitGone waits until the journal no longer has a Darkroom with a UID. It ends with the
// context.
func (j *Journal) AwaitGone(ctx context.Context, key types.NamespacedName, uid types.UID) {
	j.await(ctx, key, func(seen *v1alpha1.Darkroom) bool { return seen == nil || seen.UID != uid })
}

func (j *Journal) await(ctx context.Context, key types.NamespacedName, done func(seen *v1alpha1.Darkroom) bool) {
	for {
		j.mu.Lock()
		seen, more := j.state[key], j.wake
		j.mu.Unlock()
		if done(seen) {
			return
		}
		select {
		case <-more:
		case <-ctx.Done():
			return
		}
	}
}

// Size returns the number of Darkrooms.
func (j *Journal) Size() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.state)
}
