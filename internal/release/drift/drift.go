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
	// traces are the traces of the objects. There are only a few, and a slice takes less memory than a map.
	traces []Trace
	// desired are the objects of the last rendering.
	desired []Desired
	// holds are the holds of recently restored objects.
	holds map[manifest.Key]*Hold
}

// Desired identifies a rendered object and its content.
type Desired struct {
	manifest.Key

	// Digest is the digest of the rendered object.
	Digest string
}

// DesiredOf returns the key and digest of a rendered object.
func DesiredOf(object *unstructured.Unstructured) Desired {
	return Desired{manifest.KeyOf(object), manifest.Digest(object)}
}

// Trace is the last applied state of one object. Traces are compared only for equality, because versions and
// generations may be lower after a restore of etcd.
type Trace struct {
	// Kind is the kind, with the version that was used to apply the object.
	Kind schema.GroupVersionKind
	Name string
	// UID is the UID in the response to the apply.
	UID types.UID
	// Desired is the digest of the applied object, and State the digest of its state in the response.
	Desired, State string

	// Generation is the generation in the response; 0 if an earlier process applied the object.
	Generation int64 `json:"-"`
	// version is the resource version in the response.
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

// Applied records that desired was applied, with live as the response.
func (m *Memory) Applied(desired *unstructured.Unstructured, live metav1.Object) {
	trace := traceOf(desired, live)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.traces = append(slices.DeleteFunc(m.traces, trace.sameObject), trace)
}

// Removed drops the trace of a deleted object.
func (m *Memory) Removed(object manifest.Key) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.holds, object)
	m.traces = slices.DeleteFunc(m.traces, func(trace Trace) bool { return trace.Key() == object })
}

// Desire records the objects of a rendering. Objects that are no longer rendered are no longer repaired.
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

// TracesExcept returns the traces of applied objects that are not in desired. The caches may not show these objects yet.
func (m *Memory) TracesExcept(desired []manifest.Key) []Trace {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(m.traces),
		func(trace Trace) bool { return slices.Contains(desired, trace.Key()) })
}

// Trace returns the trace of an object, and false if there is none.
func (m *Memory) Trace(object manifest.Key) (Trace, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := slices.IndexFunc(m.traces, func(trace Trace) bool { return trace.Key() == object })
	if i < 0 {
		return Trace{}, false
	}
	return m.traces[i], true
}

// Unchanged reports whether live, a cached object, is in its desired state according to its trace.
func (m *Memory) Unchanged(desired Desired, live metav1.Object) bool {
	trace, found := m.Trace(desired.Key)
	return found && trace.Desired == desired.Digest && trace.Fits(live)
}

// Fits reports whether an object is in the state in which it was last applied. A cached object from before that write
// does not fit.
func (t *Trace) Fits(live metav1.Object) bool {
	return t.UID == live.GetUID() && (t.version == live.GetResourceVersion() || t.State == stateOf(live))
}

// IsShown reports whether a cached object is at least as recent as the last apply.
func (t *Trace) IsShown(live metav1.Object) bool {
	return t.Fits(live) || t.UID == live.GetUID() && live.GetGeneration() >= t.Generation
}

// Digest returns the digests of all objects that were applied in their desired state. The next process passes them to
// Recall.
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

// separator separates the digests of objects.
const separator = " "

// Recall restores the traces of objects that are still in the state in which an earlier process left them, according to
// its digest. lookUp returns an object from a cache; nil if there is none. Existing traces of this process take
// precedence.
func (m *Memory) Recall(
	digest string, objects []*unstructured.Unstructured, lookUp func(*unstructured.Unstructured) (metav1.Object, error),
) {
	digests, traces := strings.Split(digest, separator), []Trace(nil)
	for _, object := range objects {
		// The apply will run into the same error.
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
