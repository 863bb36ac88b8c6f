package drift

import (
	"slices"
	"sync"
	"unique"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/darkroom-operator/darkroom-operator/internal/release/digest"
	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
)

// Memory is what is remembered of the objects of one release. It is safe for concurrent use.
// The zero value is empty.
type Memory struct {
	mu sync.Mutex
	// traces are those of the objects. They are few: a list takes less memory than a map.
	traces []Trace
	// inSync is the identity of the manifest whose objects were all applied or verified;
	// objects are their keys.
	inSync  string
	objects []manifest.Key
	// brakes are those of recently restored objects.
	brakes map[manifest.Key]*brake
}

// Trace is what is remembered of one object, and recorded.
type Trace struct {
	// Kind is the one that the object was applied with.
	Kind schema.GroupVersionKind `json:"kind"`
	Name string                  `json:"name"`
	// UID and ResourceVersion are those of the object as it came back.
	UID             types.UID `json:"uid"`
	ResourceVersion string    `json:"resourceVersion"`
	// Desired is the digest of the object as it was applied, and State that of its state as it
	// came back.
	Desired digest.Digest `json:"desired"`
	State   digest.Digest `json:"state"`
}

// Key returns the key of the object.
func (t *Trace) Key() manifest.Key { return manifest.Key{GroupKind: t.Kind.GroupKind(), Name: t.Name} }

// Applied remembers that desired was applied and came back as live.
func (m *Memory) Applied(desired *unstructured.Unstructured, live metav1.Object) {
	m.mu.Lock()
	defer m.mu.Unlock()
	// The object may be of another manifest.
	m.objects = nil
	trace := Trace{
		Kind: unique.Make(desired.GroupVersionKind()).Value(), Name: desired.GetName(), UID: live.GetUID(), ResourceVersion: live.GetResourceVersion(),
		Desired: digest.Of(desired), State: stateOf(live),
	}
	if i := m.index(trace.Key()); i >= 0 {
		m.traces[i] = trace
		return
	}
	m.traces = append(m.traces, trace)
}

// index returns the place of an object's trace; -1 if it has none. The caller holds the lock.
func (m *Memory) index(object manifest.Key) int {
	return slices.IndexFunc(m.traces, func(trace Trace) bool { return trace.Key() == object })
}

// MarkInSync records that all objects of the manifest with an identity were applied or
// verified.
func (m *Memory) MarkInSync(identity string, objects []manifest.Key) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.inSync, m.objects = identity, objects
	m.traces = slices.Clone(m.traces) // drops spare capacity
}

// InSync returns the objects of the manifest with an identity, and whether MarkInSync was
// called for it.
func (m *Memory) InSync(identity string) ([]manifest.Key, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.objects) == 0 || m.inSync != identity {
		return nil, false
	}
	return m.objects, true
}

// Surplus returns the traces of objects that were applied and are not in desired. The
// caches may not show them yet.
func (m *Memory) Surplus(desired []manifest.Key) []Trace {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(m.traces), func(trace Trace) bool { return slices.Contains(desired, trace.Key()) })
}

// Removed forgets an object that was deleted.
func (m *Memory) Removed(object manifest.Key) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.traces = slices.DeleteFunc(m.traces, func(trace Trace) bool { return trace.Key() == object })
}

// Unchanged reports whether live, an object from a cache, is known to be as desired.
func (m *Memory) Unchanged(desired *unstructured.Unstructured, live metav1.Object) bool {
	trace, found := m.Trace(manifest.KeyOf(desired))
	return found && trace.Desired == digest.Of(desired) && trace.Fits(live)
}

// Trace returns what is remembered of an object.
func (m *Memory) Trace(object manifest.Key) (Trace, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := m.index(object); i >= 0 {
		return m.traces[i], true
	}
	return Trace{}, false
}

// Fits reports whether an object from a cache is as it was after it was applied. A cache
// that does not show that write yet counts as unchanged: an event will follow.
func (t Trace) Fits(live metav1.Object) bool {
	if t.UID != live.GetUID() {
		return false
	}
	return t.NewerThan(live) || t.State == stateOf(live)
}

// NewerThan reports whether an object from a cache is not newer than the object as it
// came back.
func (t Trace) NewerThan(live metav1.Object) bool {
	order, err := resourceversion.CompareResourceVersion(live.GetResourceVersion(), t.ResourceVersion)
	return err == nil && order <= 0
}

// Differs reports whether an object that was just applied differs from its trace: then the
// apply changed it.
func (t Trace) Differs(now metav1.Object) bool {
	return t.UID != now.GetUID() || t.State != stateOf(now)
}

// Differ reports whether two objects differ in more than their status.
func Differ(before, after metav1.Object) bool {
	return before.GetUID() != after.GetUID() || stateOf(before) != stateOf(after)
}
