package apiserver

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
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
	added    = "added"
	modified = "modified"
	deleted  = "deleted"
)

// change is one entry of the journal.
type change struct {
	kind     string
	darkroom *v1alpha1.Darkroom
	// size is the size of the response for the Darkroom, in bytes of JSON.
	size int
}

// maxKept bounds the changes that the journal keeps, in bytes. It is reached before the
// ring is full if Darkrooms are large.
const maxKept = 16 << 20

// journal holds the current Darkrooms and the latest changes. Its objects are shared by all
// readers and never modified.
//
// A reader has a position and asks for later changes. The journal never waits for readers:
// it keeps a fixed number of changes, and reports when a reader has fallen further behind.
type journal struct {
	// epoch distinguishes positions of this process from those of another.
	epoch string

	mu    sync.Mutex
	state map[types.NamespacedName]*v1alpha1.Darkroom
	ring  []change
	// sizes holds the size of each Darkroom.
	sizes map[types.NamespacedName]int
	// The ring holds the changes from first up to, and without, next; kept is the sum
	// of their sizes.
	first, next uint64
	kept        int
	// wake is closed and replaced with each change.
	wake chan struct{}
}

func newJournal(size int) *journal {
	return &journal{
		epoch: rand.Text()[:8],
		state: map[types.NamespacedName]*v1alpha1.Darkroom{},
		sizes: map[types.NamespacedName]int{},
		ring:  make([]change, size),
		wake:  make(chan struct{}),
	}
}

func keyOf(darkroom *v1alpha1.Darkroom) types.NamespacedName {
	return types.NamespacedName{Namespace: darkroom.Namespace, Name: darkroom.Name}
}

// put records the current state of a Darkroom, if it differs from the previous one.
func (j *journal) put(darkroom *v1alpha1.Darkroom) {
	size := sizeOf(darkroom)
	j.mu.Lock()
	defer j.mu.Unlock()
	key := keyOf(darkroom)
	before, found := j.state[key]
	switch {
	case !found:
		j.append(change{added, darkroom, size})
	case before.UID != darkroom.UID:
		// Deleted and created again between two events.
		j.append(change{deleted, before, j.sizes[key]})
		j.append(change{added, darkroom, size})
	case before.ResourceVersion != darkroom.ResourceVersion:
		j.append(change{modified, darkroom, size})
	}
	j.state[key], j.sizes[key] = darkroom, size
}

func sizeOf(darkroom *v1alpha1.Darkroom) int {
	raw, err := json.Marshal(flatten(darkroom))
	if err != nil {
		// It cannot be sent either.
		return 0
	}
	return len(raw)
}

// bytes returns the size of a Darkroom as clients get it.
func (j *journal) bytes(key types.NamespacedName) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.sizes[key]
}

// remove records that a Darkroom is gone.
func (j *journal) remove(key types.NamespacedName) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if before, found := j.state[key]; found {
		j.append(change{deleted, before, j.sizes[key]})
		delete(j.state, key)
		delete(j.sizes, key)
	}
}

// append needs the lock.
func (j *journal) append(c change) {
	size := uint64(len(j.ring))
	for j.next-j.first == size || j.first < j.next && j.kept+c.size > maxKept {
		oldest := &j.ring[j.first%size]
		j.kept -= oldest.size
		*oldest = change{}
		j.first++
	}
	j.ring[j.next%size] = c
	j.kept += c.size
	j.next++
	close(j.wake)
	j.wake = make(chan struct{})
}

// get returns a Darkroom, or nil.
func (j *journal) get(key types.NamespacedName) *v1alpha1.Darkroom {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.state[key]
}

// all returns the Darkrooms, sorted by namespace and name, and the position at which
// they are so.
func (j *journal) all() ([]*v1alpha1.Darkroom, uint64) {
	j.mu.Lock()
	out := make([]*v1alpha1.Darkroom, 0, len(j.state))
	for _, darkroom := range j.state {
		out = append(out, darkroom)
	}
	position := j.next
	j.mu.Unlock()
	slices.SortFunc(out, func(a, b *v1alpha1.Darkroom) int { return compareKeys(keyOf(a), keyOf(b)) })
	return out, position
}

func compareKeys(a, b types.NamespacedName) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// after returns the changes since a position, the next position, and a channel that is
// closed at the next change. It returns false if some of the changes are no longer kept.
func (j *journal) after(position uint64) (changes []change, next uint64, more <-chan struct{}, ok bool) {
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

// id encodes a position for clients.
func (j *journal) id(position uint64) string {
	return j.epoch + "-" + strconv.FormatUint(position, 10)
}

// position decodes an id. It returns false for an id of another process or an invalid one.
func (j *journal) position(id string) (uint64, bool) {
	epoch, number, found := strings.Cut(id, "-")
	if !found || epoch != j.epoch {
		return 0, false
	}
	position, err := strconv.ParseUint(number, 10, 64)
	return position, err == nil
}

// await waits until the journal has a Darkroom at a resource version or later, so that
// reads reflect the caller's own writes. It ends with the context.
func (j *journal) await(ctx context.Context, key types.NamespacedName, version string) {
	for {
		j.mu.Lock()
		seen, more := j.state[key], j.wake
		j.mu.Unlock()
		if seen != nil {
			if order, err := resourceversion.CompareResourceVersion(seen.ResourceVersion, version); err != nil || order >= 0 {
				return
			}
		}
		select {
		case <-more:
		case <-ctx.Done():
			return
		}
	}
}

// awaitGone waits until the journal no longer has a Darkroom with a UID. It ends with the
// context.
func (j *journal) awaitGone(ctx context.Context, key types.NamespacedName, uid types.UID) {
	for {
		j.mu.Lock()
		seen, more := j.state[key], j.wake
		j.mu.Unlock()
		if seen == nil || seen.UID != uid {
			return
		}
		select {
		case <-more:
		case <-ctx.Done():
			return
		}
	}
}

// size returns the number of Darkrooms.
func (j *journal) size() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.state)
}
