package drift

import (
	"maps"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
)

// AnnotationRevision is set on each Deployment by its controller; it changes with each new pod template.
const AnnotationRevision = "deployment.kubernetes.io/revision"

// stateOf returns a digest that changes with an object's specification and metadata, but not with its status. If the
// object has a generation, the digest covers the generation and the metadata. Otherwise it covers the resource version,
// or for kinds that have a status the managers of fields outside it.
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
		state.Annotations = nil // as if the annotation had never been set
	}
	if state.Generation == 0 {
		if state.Writers = SpecificationWriters(object); state.Writers == nil {
			state.ResourceVersion = object.GetResourceVersion()
		}
	}
	return manifest.Digest(state)
}

// Differ reports whether two objects differ outside their status.
func Differ(before, after metav1.Object) bool {
	return before.GetUID() != after.GetUID() || stateOf(before) != stateOf(after)
}

var autoscalers = autoscalingv2.SchemeGroupVersion.WithKind("HorizontalPodAutoscaler").GroupKind()

// SpecificationWriters returns the managed fields of an object outside its status. It returns none for kinds whose
// generation or resource version reveals a change. Autoscalers had no generation in Kubernetes 1.36, and their status
// changes several times a minute. Each change of a field updates the time of its manager, or moves the field to another
// manager.
func SpecificationWriters(object metav1.Object) []metav1.ManagedFieldsEntry {
	typed, ok := object.(runtime.Object)
	if !ok || typed.GetObjectKind().GroupVersionKind().GroupKind() != autoscalers {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(object.GetManagedFields()), func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Subresource != ""
	})
}
