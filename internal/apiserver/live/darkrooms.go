package live

import (
	"cmp"
	"context"
	"maps"
	"slices"
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

// Change is a change of one Darkroom. A deletion contains the last state.
type Change struct {
	Kind     string
	Darkroom *v1alpha1.Darkroom
}

// Darkrooms contains the current Darkrooms. All readers share the objects, which are never modified.
type Darkrooms struct {
	mu    sync.Mutex
	known map[types.NamespacedName]*v1alpha1.Darkroom
	// watches are the running watches.
	watches map[*Watch]bool
}

// NewDarkrooms returns an empty set.
func NewDarkrooms() *Darkrooms {
	return &Darkrooms{known: map[types.NamespacedName]*v1alpha1.Darkroom{}, watches: map[*Watch]bool{}}
}

// KeyOf returns the namespace and name of a Darkroom.
func KeyOf(darkroom *v1alpha1.Darkroom) types.NamespacedName {
	return types.NamespacedName{Namespace: darkroom.Namespace, Name: darkroom.Name}
}

// CompareKeys orders keys by namespace and name.
func CompareKeys(a, b types.NamespacedName) int {
	return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
}

// Put adds or replaces a Darkroom.
func (d *Darkrooms) Put(darkroom *v1alpha1.Darkroom) {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := KeyOf(darkroom)
	before := d.known[key]
	d.known[key] = darkroom
	if before == nil || before.UID != darkroom.UID || before.ResourceVersion != darkroom.ResourceVersion {
		d.tell(key, before)
	}
}

// Remove removes a Darkroom.
func (d *Darkrooms) Remove(key types.NamespacedName) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if before := d.known[key]; before != nil {
		delete(d.known, key)
		d.tell(key, before)
	}
}

// tell marks a Darkroom as changed in all watches. The lock must be held.
func (d *Darkrooms) tell(key types.NamespacedName, before *v1alpha1.Darkroom) {
	for watch := range d.watches {
		if _, isMarked := watch.before[key]; !isMarked {
			watch.before[key] = before
		}
		select {
		case watch.Changed <- struct{}{}:
		default:
		}
	}
}

// Get returns a Darkroom, or nil.
func (d *Darkrooms) Get(key types.NamespacedName) *v1alpha1.Darkroom {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.known[key]
}

// All returns the Darkrooms, sorted by namespace and name.
func (d *Darkrooms) All() []*v1alpha1.Darkroom {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.all()
}

// all is All while the lock is held.
func (d *Darkrooms) all() []*v1alpha1.Darkroom {
	return slices.SortedFunc(maps.Values(d.known),
		func(a, b *v1alpha1.Darkroom) int { return CompareKeys(KeyOf(a), KeyOf(b)) })
}

// Watch collects changes for one reader. Changes of the same Darkroom are merged, so that slow readers take bounded
// memory.
type Watch struct {
	// Changed receives a value when Take would return changes.
	Changed chan struct{}

	of *Darkrooms
	// before contains, for each changed Darkroom, the last state that the reader knows; nil if the Darkroom is new to
	// it.
	before map[types.NamespacedName]*v1alpha1.Darkroom
}

// Watch starts a watch.
func (d *Darkrooms) Watch() *Watch {
	out := &Watch{of: d, Changed: make(chan struct{}, 1), before: map[types.NamespacedName]*v1alpha1.Darkroom{}}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.watches[out] = true
	return out
}

// Stop ends the collection of changes.
func (w *Watch) Stop() {
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	delete(w.of.watches, w)
}

// Restart returns all Darkrooms, and drops the collected changes.
func (w *Watch) Restart() []*v1alpha1.Darkroom {
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	clear(w.before)
	return w.of.all()
}

// Take returns the changes since the last Take or Restart, sorted by namespace and name.
func (w *Watch) Take() []Change {
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	var out []Change
	for key, before := range w.before {
		now := w.of.known[key]
		isOther := before != nil && (now == nil || now.UID != before.UID)
		if isOther {
			out = append(out, Change{Deleted, before})
		}
		switch {
		case now == nil:
		case before == nil || isOther:
			out = append(out, Change{Added, now})
		default:
			out = append(out, Change{Modified, now})
		}
	}
	clear(w.before)
	slices.SortStableFunc(out, func(a, b Change) int { return CompareKeys(KeyOf(a.Darkroom), KeyOf(b.Darkroom)) })
	return out
}

// Await waits until a Darkroom has at least a resource version, or the context is done, so that reads reflect the
// caller's own writes.
func (d *Darkrooms) Await(ctx context.Context, key types.NamespacedName, version string) {
	d.await(ctx, func() bool {
		seen := d.Get(key)
		if seen == nil {
			return false
		}
		order, err := resourceversion.CompareResourceVersion(seen.ResourceVersion, version)
		return err != nil || order >= 0
	})
}

// AwaitGone waits until no Darkroom has a UID, or the context is done.
func (d *Darkrooms) AwaitGone(ctx context.Context, key types.NamespacedName, uid types.UID) {
	d.await(ctx, func() bool {
		seen := d.Get(key)
		return seen == nil || seen.UID != uid
	})
}

func (d *Darkrooms) await(ctx context.Context, isDone func() bool) {
	watch := d.Watch()
	defer watch.Stop()
	for !isDone() {
		select {
		case <-watch.Changed:
		case <-ctx.Done():
			return
		}
	}
}
