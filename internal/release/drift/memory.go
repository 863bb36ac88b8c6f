package drift

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"unique"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
)

// Memory tracks the last applied state of the objects of one release. It is safe for concurrent use.
// The zero value is empty.
type Memory struct {
	mu sync.Mutex
	// traces are the traces of the objects. They are few: a list takes less memory than a map.
	traces []Trace
	// desired are the objects of the last rendering.
	desired []Desired
	// holds are the holds of recently restored objects.
	holds map[manifest.Key]*Hold
}

// Desired is an object of a release as it was rendered.
type Desired struct {
	manifest.Key

	// Digest is the digest of the object as it is applied.
	Digest string
}

// DesiredOf returns what identifies a rendered object.
func DesiredOf(object *unstructured.Unstructured) Desired {
	return Desired{manifest.KeyOf(object), manifest.Digest(object)}
}

// Trace is the last applied state of one object. What is to be repaired is decided by equality alone: after
// a restore of etcd, versions and generations are lower than before.
type Trace struct {
	// Kind is the one that the object was applied with.
	Kind schema.GroupVersionKind
	Name string
	// UID is the UID of the object as it came back.
	UID types.UID
	// Desired is the digest of the object as it was applied, and State that of its state as it
	// came back.
	Desired, State string

	// Generation is the generation of the object as it came back; 0 if an earlier process applied it.
	Generation int64 `json:"-"`
	// version is its version.
	version string
}

// Key returns the key of the object.
func (t *Trace) Key() manifest.Key { return manifest.Key{GroupKind: t.Kind.GroupKind(), Name: t.Name} }

func (t *Trace) sameObject(other Trace) bool { return t.Key() == other.Key() }

func traceOf(desired *unstructured.Unstructured, live metav1.Object) Trace {
	return Trace{
		Kind: unique.Make(desired.GroupVersionKind()).Value(), Name: desired.GetName(), UID: live.GetUID(),
		Desired: manifest.Digest(desired), State: stateOf(live),
		version: live.GetResourceVersion(), Generation: live.GetGeneration(),
	}
}

// Applied remembers that desired was applied and came back as live.
func (m *Memory) Applied(desired *unstructured.Unstructured, live metav1.Object) {
	trace := traceOf(desired, live)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.traces = append(slices.DeleteFunc(m.traces, trace.sameObject), trace)
}

// Removed forgets an object that was deleted.
func (m *Memory) Removed(object manifest.Key) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.holds, object)
	m.traces = slices.DeleteFunc(m.traces, func(trace Trace) bool { return trace.Key() == object })
}

// Desire records the objects of a rendering. Others are no longer repaired.
func (m *Memory) Desire(objects []*unstructured.Unstructured) {
	desired := make([]Desired, len(objects))
	for i, object := range objects {
		desired[i] = DesiredOf(object)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.desired = desired
	maps.DeleteFunc(m.holds, func(object manifest.Key, _ *Hold) bool {
		return !slices.ContainsFunc(desired, func(d Desired) bool { return d.Key == object })
	})
}

// Desired returns the objects of the last rendering.
func (m *Memory) Desired() []Desired {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.desired
}

// Surplus returns the traces of objects that were applied and are not in desired. The
// caches may not show them yet.
func (m *Memory) Surplus(desired []manifest.Key) []Trace {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(m.traces),
		func(trace Trace) bool { return slices.Contains(desired, trace.Key()) })
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
func (m *Memory) Unchanged(desired Desired, live metav1.Object) bool {
	trace, found := m.Trace(desired.Key)
	return found && trace.Desired == desired.Digest && trace.Fits(live)
}

// Fits reports whether an object is as it was after it was applied. A cache that does not show that
// write yet has another one: only the API server knows more.
func (t *Trace) Fits(live metav1.Object) bool {
	return t.UID == live.GetUID() && (t.version == live.GetResourceVersion() || t.State == stateOf(live))
}

// IsShown reports whether a cache shows an object as it was applied, or as it was changed since.
func (t *Trace) IsShown(live metav1.Object) bool {
	return t.Fits(live) || t.UID == live.GetUID() && live.GetGeneration() >= t.Generation
}

// Digest returns what the next process recalls of a release: a digest of each object that was applied as it is desired,
// and as it was then.
func (m *Memory) Digest() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var digests []string
	for _, trace := range m.traces {
		if slices.Contains(m.desired, Desired{trace.Key(), trace.Desired}) {
			digests = append(digests, manifest.Digest(trace))
		}
	}
	slices.Sort(digests)
	return strings.Join(digests, separator)
}

// separator is between the digests of objects.
const separator = " "

// Recall remembers the objects that are as an earlier process left them, by its digest. lookUp returns an object from a
// cache; nil if it has none. What this process has applied itself it knows better.
func (m *Memory) Recall(
	digest string, objects []*unstructured.Unstructured, lookUp func(*unstructured.Unstructured) (metav1.Object, error),
) {
	digests, traces := strings.Split(digest, separator), []Trace(nil)
	for _, object := range objects {
		// An error will be met again by the apply.
		if now, err := lookUp(object); err == nil && now != nil {
			if trace := traceOf(object, now); slices.Contains(digests, manifest.Digest(trace)) {
				trace.Generation = 0
				traces = append(traces, trace)
			}
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.traces) == 0 {
		m.traces = traces
	}
}
