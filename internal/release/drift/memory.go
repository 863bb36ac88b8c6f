package drift

import (
	"slices"
	"sync"
	"unique"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/darkroom-operator/darkroom-operator/internal/release/digest"
	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
)

// Memory is what is remembered of the objects of one release. It is safe for concurrent use.
// The zero value is empty.
type Memory struct {
	mu     sync.Mutex
	traces traces
	// inSync is the identity of the manifest whose objects were all applied or verified;
	// objects are their keys.
	inSync  string
	objects []manifest.Key
	// brakes are those of recently restored objects.
	brakes map[manifest.Key]*brake
}

// traces are those of a release's objects. They are few: a list takes less memory than a map.
type traces []tracedObject

type tracedObject struct {
	object manifest.Key
	Trace
}

// of returns the trace of an object.
func (t traces) of(object manifest.Key) (_ Trace, found bool) {
	if i := t.index(object); i >= 0 {
		return t[i].Trace, true
	}
	return Trace{}, false
}

// index returns the place of an object's trace; -1 if it has none.
func (t traces) index(object manifest.Key) int {
	return slices.IndexFunc(t, func(traced tracedObject) bool { return traced.object == object })
}

// set sets the trace of an object. Its strings share the memory of equal ones.
func (t *traces) set(object manifest.Key, trace Trace) {
	trace.APIVersion = unique.Make(trace.APIVersion).Value()
	if i := t.index(object); i >= 0 {
		(*t)[i].Trace = trace
		return
	}
	object.Group, object.Kind = unique.Make(object.Group).Value(), unique.Make(object.Kind).Value()
	*t = append(*t, tracedObject{object, trace})
}

// Trace is what is remembered of one object.
type Trace struct {
	// APIVersion is the one that the object was applied with.
	APIVersion string
	// UID and ResourceVersion are those of the object as it came back.
	UID             types.UID
	ResourceVersion string

	desired digest.Digest // of the object as it was applied
	state   digest.Digest // of the object as it came back
}

// Applied remembers that desired was applied and came back as live.
func (m *Memory) Applied(desired *unstructured.Unstructured, live metav1.Object) {
	m.mu.Lock()
	defer m.mu.Unlock()
	// The object may be of another manifest.
	m.objects = nil
	m.traces.set(manifest.KeyOf(desired), Trace{
		APIVersion:      desired.GetAPIVersion(),
		UID:             live.GetUID(),
		ResourceVersion: live.GetResourceVersion(),
		desired:         digest.Of(desired),
		state:           stateOf(live),
	})
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
func (m *Memory) Surplus(desired []manifest.Key) map[manifest.Key]Trace {
	m.mu.Lock()
	defer m.mu.Unlock()
	var surplus map[manifest.Key]Trace
	for _, traced := range m.traces {
		if slices.Contains(desired, traced.object) {
			continue
		}
		if surplus == nil {
			surplus = map[manifest.Key]Trace{}
		}
		surplus[traced.object] = traced.Trace
	}
	return surplus
}

// Removed forgets an object that was deleted.
func (m *Memory) Removed(object manifest.Key) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.traces = slices.DeleteFunc(m.traces, func(traced tracedObject) bool { return traced.object == object })
}

// Unchanged reports whether live, an object from a cache, is known to be as desired.
func (m *Memory) Unchanged(desired *unstructured.Unstructured, live metav1.Object) bool {
	trace, found := m.Trace(manifest.KeyOf(desired))
	return found && trace.desired == digest.Of(desired) && trace.Fits(live)
}

// Trace returns what is remembered of an object.
func (m *Memory) Trace(object manifest.Key) (Trace, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.traces.of(object)
}

// Fits reports whether an object from a cache is as it was after it was applied. A cache
// that does not show that write yet counts as unchanged: an event will follow.
func (t Trace) Fits(live metav1.Object) bool {
	if t.UID != live.GetUID() {
		return false
	}
	return t.NewerThan(live) || t.state == stateOf(live)
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
	return t.UID != now.GetUID() || t.state != stateOf(now)
}

// Differ reports whether two objects differ in more than their status.
func Differ(before, after metav1.Object) bool {
	return before.GetUID() != after.GetUID() || stateOf(before) != stateOf(after)
}
