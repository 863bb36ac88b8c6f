package drift

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/property"
)

// stored is an object in the API server.
type stored struct {
	*unstructured.Unstructured

	writes int
}

func (s *stored) write() {
	s.writes++
	s.SetResourceVersion(fmt.Sprint(s.writes))
}

// written sets the time of the last write of a subresource by its manager.
func (s *stored) written(subresource string) {
	entries := s.GetManagedFields()
	for i := range entries {
		if entries[i].Subresource == subresource {
			entries[i].Time = &metav1.Time{Time: time.Unix(int64(s.writes), 0)}
		}
	}
	s.SetManagedFields(entries)
}

// kindsOfTests are a kind with a generation, a kind without one, and a kind whose changes are visible only in its
// managed fields.
var kindsOfTests = []struct{ version, kind string }{
	{"apps/v1", "Deployment"},
	{"v1", "ConfigMap"},
	{"autoscaling/v2", "HorizontalPodAutoscaler"},
}

func newStored(version, kind, name string) *stored {
	s := &stored{Unstructured: &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": version, "kind": kind, "metadata": map[string]any{"name": name, "namespace": "a"},
		"spec": map[string]any{"size": "1"},
	}}}
	s.SetUID(types.UID(name))
	if kind == "Deployment" {
		s.SetGeneration(1)
	}
	s.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "operator"}, {Manager: "kubelet", Subresource: "status"}})
	s.write()
	return s
}

// changesOfTests are changes by other clients. Changes of the status alone do not count.
var changesOfTests = map[string]func(*stored){
	"status": func(s *stored) {
		if s.GetKind() != "ConfigMap" { // ConfigMaps have no status
			s.write()
			s.written("status")
		}
	},
	"revision of a Deployment": func(s *stored) {
		if s.GetKind() == "Deployment" {
			annotations := maps.Clone(s.GetAnnotations())
			if annotations == nil {
				annotations = map[string]string{}
			}
			annotations[AnnotationRevision] = fmt.Sprint(s.writes)
			s.SetAnnotations(annotations)
			s.write()
		}
	},
	"specification": func(s *stored) {
		s.write()
		s.written("")
		if s.GetGeneration() > 0 {
			s.SetGeneration(s.GetGeneration() + 1)
		}
	},
	"label":      func(s *stored) { s.write(); s.SetLabels(map[string]string{"a": "b"}) },
	"annotation": func(s *stored) { s.write(); s.SetAnnotations(map[string]string{"a": "b"}) },
	"owner":      func(s *stored) { s.write(); s.SetOwnerReferences([]metav1.OwnerReference{{UID: "b"}}) },
	"deletion":   func(s *stored) { s.write(); s.SetDeletionTimestamp(&metav1.Time{Time: time.Unix(1, 0)}) },
	"recreation": func(s *stored) { s.write(); s.SetUID("another") },
}

var changesOfTheStatus = []string{"status", "revision of a Deployment"}

// An applied object counts as unchanged as long as only its status changes, in this process and in the next one.
func TestOnlyTheStatusMayChange(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		memory := &Memory{}
		var applied []*unstructured.Unstructured
		live := map[string]*stored{}
		for i, kind := range kindsOfTests[:rapid.IntRange(1, len(kindsOfTests)).Draw(t, "objects")] {
			object := newStored(kind.version, kind.kind, fmt.Sprint(i))
			desired := object.DeepCopy()
			memory.Applied(desired, object)
			applied, live[object.GetName()] = append(applied, desired), object
		}
		memory.Desire(applied)
		sum := memory.Digest()

		unchanged := map[string]bool{}
		for _, desired := range applied {
			object := live[desired.GetName()]
			before, same := stored{object.DeepCopy(), object.writes}, true
			for _, name := range rapid.SliceOfN(rapid.SampledFrom(slices.Sorted(maps.Keys(changesOfTests))), 0, 2).
				Draw(t, "changes of "+object.GetKind()) {
				changesOfTests[name](object)
				same = same && slices.Contains(changesOfTheStatus, name)
			}
			if got := memory.Unchanged(DesiredOf(desired), object); got != same {
				t.Fatalf("Unchanged: got %v", got)
			}
			if got := Differ(before, object); got == same {
				t.Fatalf("Differ: got %v", got)
			}
			trace, _ := memory.Trace(manifest.KeyOf(desired))
			if got, want := trace.IsShown(object), object.GetUID() == before.GetUID(); got != want {
				t.Fatalf("IsShown: got %v", got)
			}
			other := desired.DeepCopy()
			other.Object["spec"] = map[string]any{"size": "2"}
			if memory.Unchanged(DesiredOf(other), object) {
				t.Fatal("the object counts as unchanged although another state is desired")
			}
			unchanged[desired.GetName()] = same
		}

		// The next process may have another version of the chart, or other settings.
		var desired []*unstructured.Unstructured
		for _, object := range applied {
			switch rapid.SampledFrom([]string{"", "", "changed", "left out"}).Draw(t, "in the next version") {
			case "changed":
				object = object.DeepCopy()
				object.Object["spec"] = map[string]any{"size": "2"}
				unchanged[object.GetName()] = false
				fallthrough
			case "":
				desired = append(desired, object)
			}
		}
		missing := rapid.SampledFrom([]string{"", "", "0"}).Draw(t, "missing")
		next, cached := &Memory{}, func(desired *unstructured.Unstructured) (metav1.Object, error) {
			if desired.GetName() == missing {
				return nil, nil //nolint:nilnil // not cached
			}
			return live[desired.GetName()], nil
		}
		next.Desire(desired)
		next.Recall(sum, desired, cached)
		known := 0
		for _, object := range desired {
			same := unchanged[object.GetName()] && object.GetName() != missing
			if same {
				known++
			}
			if got := next.Unchanged(DesiredOf(object), live[object.GetName()]); got != same {
				t.Fatalf("next process: %s counts as unchanged: %v", manifest.KeyOf(object), got)
			}
		}
		if known == len(applied) && (next.Digest() != memoryOf(applied, live).Digest() ||
			len(next.TracesExcept(manifest.Keys(applied[1:]))) != 1) {
			t.Fatal("the next process recalls a different state")
		}
		if got := len(strings.Fields(next.Digest())); got != known {
			t.Fatalf("next process: got digest %q, want the digests of %d objects", next.Digest(), known)
		}
	})
}

// The caches may still show an object in the state in which the previous process left it, although this process has
// already written it.
func TestAnObjectThatThisProcessAppliedIsNotRecalled(t *testing.T) {
	object, other := newStored("v1", "ConfigMap", "one"), newStored("v1", "ConfigMap", "two")
	cached := map[string]*stored{"one": {object.DeepCopy(), 1}, "two": other}
	sum := memoryOf([]*unstructured.Unstructured{object.Unstructured}, cached).Digest()
	memory := &Memory{}
	object.write()
	memory.Applied(object.Unstructured, object)
	memory.Recall(sum, []*unstructured.Unstructured{object.Unstructured, other.Unstructured},
		func(o *unstructured.Unstructured) (metav1.Object, error) {
			return cached[o.GetName()], nil
		})
	if !memory.Unchanged(DesiredOf(object.Unstructured), object) {
		t.Error("Recall replaced the trace of an object that this process applied")
	}
}

// memoryOf returns the memory of a process that has applied some objects and received live as the responses.
func memoryOf(applied []*unstructured.Unstructured, live map[string]*stored) *Memory {
	memory := &Memory{}
	for _, desired := range applied {
		memory.Applied(desired, live[desired.GetName()])
	}
	memory.Desire(applied)
	return memory
}

func TestTracesExceptTheDesiredOnesLackRemovedObjects(t *testing.T) {
	memory, first, second := &Memory{}, newStored("v1", "Service", "first"), newStored("v1", "Service", "second")
	memory.Applied(first.Unstructured, first)
	memory.Applied(second.Unstructured, second)
	memory.Applied(second.Unstructured, second)
	undesired := func() (names []string) {
		for _, trace := range memory.TracesExcept(manifest.Keys([]*unstructured.Unstructured{first.Unstructured})) {
			names = append(names, trace.Name)
		}
		return names
	}
	if got := undesired(); !slices.Equal(got, []string{"second"}) {
		t.Errorf("got traces of %q, want only second", got)
	}
	memory.Removed(manifest.KeyOf(second.Unstructured))
	if got := undesired(); len(got) != 0 {
		t.Errorf("after the removal: got traces of %q, want none", got)
	}
}
