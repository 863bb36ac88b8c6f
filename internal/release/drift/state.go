package drift

import (
	"maps"
	"slices"

	autoscalingv2 "k8s.io/api/autoscaling/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/darkroom-operator/darkroom-operator/internal/release/digest"
)

// annotationRevision is written to each Deployment by its controller.
const annotationRevision = "deployment.kubernetes.io/revision"

// stateOf digests what changes only with an object's specification: where the object has
// a generation, that and its metadata, so that changes of the status do not count; else
// its resourceVersion, or for kinds with a status the writers of the specification.
func stateOf(object metav1.Object) digest.Digest {
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
	delete(state.Annotations, annotationRevision)
	switch {
	case state.Generation != 0:
	case HasStatusWithoutGeneration(object):
		state.Writers = SpecificationWriters(object)
	default:
		state.ResourceVersion = object.GetResourceVersion()
	}
	return digest.Of(state)
}

// HasStatusWithoutGeneration reports whether neither generation nor resourceVersion of an
// object shows a change of its specification: autoscalers have no generation in Kubernetes
// 1.36, and their status is written several times a minute.
func HasStatusWithoutGeneration(object metav1.Object) bool {
	typed, ok := object.(runtime.Object)
	return ok && typed.GetObjectKind().GroupVersionKind().GroupKind() == autoscalers
}

var autoscalers = autoscalingv2.SchemeGroupVersion.WithKind("HorizontalPodAutoscaler").GroupKind()

// SpecificationWriters returns an object's managed fields without those of its status.
// Each change of a field changes its writer's time, or takes the field from another
// writer.
func SpecificationWriters(object metav1.Object) []metav1.ManagedFieldsEntry {
	return slices.DeleteFunc(slices.Clone(object.GetManagedFields()), func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Subresource != ""
	})
}
