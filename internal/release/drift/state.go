// Package drift decides, without a request, whether the objects of a release still are as
// they were applied.
//
// For each object of each release it remembers what was applied and the object's state
// right after (memory.go, state.go). While the cache shows the same, the object needs
// nothing. The next process knows it by a digest in the status of the Darkroom.
// Which fields of others are removed from an object, and which stay, is in fields.go.
// An object that another writer keeps changing is restored less and less often
// (brake.go).
package drift

import (
	"maps"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
)

// AnnotationRevision is written to each Deployment by its controller, with each new pod template.
const AnnotationRevision = "deployment.kubernetes.io/revision"

// stateOf digests what changes only with an object's specification: where the object has
// a generation, that and its metadata, so that changes of the status do not count; else
// its resourceVersion, or for kinds with a status the writers of the specification.
func stateOf(object metav1.Object) string {
	state := struct {
		Generation      int64
		ResourceVersion string
		Writers         []metav1.ManagedFieldsEntry
		Labels          map[string]string
		Annotations     map[string]string
		Owners          []metav1.OwnerReference
		Deleting        bool
	}{
		Generation: object.GetGeneration(),
		Labels:     object.GetLabels(),
		Owners:     object.GetOwnerReferences(),
		Deleting:   object.GetDeletionTimestamp() != nil,
	}
	state.Annotations = maps.Clone(object.GetAnnotations())
	if delete(state.Annotations, AnnotationRevision); len(state.Annotations) == 0 {
		state.Annotations = nil // as before it was written
	}
	if state.Generation == 0 {
		if state.Writers = SpecificationWriters(object); state.Writers == nil {
			state.ResourceVersion = object.GetResourceVersion()
		}
	}
	return manifest.Digest(state)
}

// Differ reports whether two objects differ in more than their status.
func Differ(before, after metav1.Object) bool {
	return before.GetUID() != after.GetUID() || stateOf(before) != stateOf(after)
}

var autoscalers = autoscalingv2.SchemeGroupVersion.WithKind("HorizontalPodAutoscaler").GroupKind()

// SpecificationWriters returns the managed fields of an object outside its status. It returns none
// for kinds whose generation or resourceVersion shows a change. Autoscalers have
// no generation in Kubernetes 1.36, and their status is written several times a minute. Each
// change of a field changes its writer's time, or takes the field from another writer.
func SpecificationWriters(object metav1.Object) []metav1.ManagedFieldsEntry {
	typed, ok := object.(runtime.Object)
	if !ok || typed.GetObjectKind().GroupVersionKind().GroupKind() != autoscalers {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(object.GetManagedFields()), func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Subresource != ""
	})
}
