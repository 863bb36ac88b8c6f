package drift

import (
	"encoding/json"
	"slices"
	"sync"
	"unique"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

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
	Desired string `json:"desired"`
	State   string `json:"state"`
}

// Key returns the key of the object.
func (t *Trace) Key() manifest.Key { return manifest.Key{GroupKind: t.Kind.GroupKind(), Name: t.Name} }

func (t *Trace) sameObject(other Trace) bool { return t.Key() == other.Key() }

// Applied remembers that desired was applied and came back as live.
func (m *Memory) Applied(desired *unstructured.Unstructured, live metav1.Object) {
	trace := Trace{
		Kind: unique.Make(desired.GroupVersionKind()).Value(), Name: desired.GetName(), UID: live.GetUID(), ResourceVersion: live.GetResourceVersion(),
		Desired: manifest.Digest(desired), State: stateOf(live),
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	// The object may be of another manifest.
	m.objects = nil
	m.traces = append(slices.DeleteFunc(m.traces, trace.sameObject), trace)
}

// Removed forgets an object that was deleted.
func (m *Memory) Removed(object manifest.Key) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.traces = slices.DeleteFunc(m.traces, func(trace Trace) bool { return trace.Key() == object })
}

// MarkInSync records that all objects of the manifest with an identity were applied or
// verified.
func (m *Memory) MarkInSync(identity string, objects []manifest.Key) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.inSync, m.objects = identity, objects
	m.traces = slices.Clone(m.traces) // drops spare capacity
}

// InSync returns the objects of the manifest with an identity; none unless MarkInSync was called
// for it.
func (m *Memory) InSync(identity string) []manifest.Key {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.inSync != identity {
		return nil
	}
	return m.objects
}

// Surplus returns the traces of objects that were applied and are not in desired. The
// caches may not show them yet.
func (m *Memory) Surplus(desired []manifest.Key) []Trace {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(m.traces), func(trace Trace) bool { return slices.Contains(desired, trace.Key()) })
}

// Trace returns what is remembered of an object.
func (m *Memory) Trace(object manifest.Key) (Trace, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.traces, func(trace Trace) bool { return trace.Key() == object })
	if i < 0 {
		return Trace{}, false
	}
	return m.traces[i], true
}

// Unchanged reports whether live, an object from a cache, is known to be as desired.
func (m *Memory) Unchanged(desired *unstructured.Unstructured, live metav1.Object) bool {
	trace, found := m.Trace(manifest.KeyOf(desired))
	return found && trace.Desired == manifest.Digest(desired) && trace.Fits(live)
}

// Fits reports whether an object from a cache is as it was after it was applied. A cache
// that does not show that write yet counts as unchanged: an event will follow.
func (t *Trace) Fits(live metav1.Object) bool {
	return t.UID == live.GetUID() && (t.NewerThan(live) || t.State == stateOf(live))
}

// NewerThan reports whether an object from a cache is not newer than the object as it
// came back.
func (t *Trace) NewerThan(live metav1.Object) bool {
	order, err := resourceversion.CompareResourceVersion(live.GetResourceVersion(), t.ResourceVersion)
	return err == nil && order <= 0
}

// record is the stored form of the memory of a release.
type record struct {
	// Manifest is the identity of the manifest that was applied.
	Manifest string  `json:"manifest"`
	Objects  []Trace `json:"objects"`
}

// Record returns the stored form of what is remembered of a release that is in sync; nil if it
// is not. A restarted operator would have to apply every object of every release to know that it
// is as it should be. It is stored in the Secret of the deployed revision, as data, because it
// has digests of Secrets. Helm clients write the Secret without it, so it always describes what
// the operator itself applied.
func (m *Memory) Record() []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.objects) == 0 {
		return nil
	}
	objects := slices.DeleteFunc(slices.Clone(m.traces), func(trace Trace) bool { return !slices.Contains(m.objects, trace.Key()) })
	raw, err := json.Marshal(record{Manifest: m.inSync, Objects: objects})
	if err != nil {
		panic(err) // it consists of strings
	}
	return raw
}

// Recall remembers what was recorded of a release, unless something is remembered already. It
// ignores a record that cannot be decoded.
func (m *Memory) Recall(raw []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var recorded record
	if len(m.traces) > 0 || json.Unmarshal(raw, &recorded) != nil {
		return
	}
	m.inSync, m.traces = recorded.Manifest, recorded.Objects
	for i := range m.traces {
		m.traces[i].Kind = unique.Make(m.traces[i].Kind).Value()
		m.objects = append(m.objects, m.traces[i].Key())
	}
}
