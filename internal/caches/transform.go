package caches

import (
	"time"
	"unique"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/cache"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release/drift"
	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// withoutManagedFields drops the managed fields of an object, unless they are needed to distinguish changes of the spec
// from changes of the status. For a Darkroom it keeps the last writer of the spec.
func withoutManagedFields(object any) (any, error) {
	metadata, err := meta.Accessor(object)
	if err != nil || metadata.GetManagedFields() == nil {
		return object, nil //nolint:nilerr // without metadata, there are no managed fields
	}
	var kept []metav1.ManagedFieldsEntry
	if _, isDarkroom := object.(*v1alpha1.Darkroom); isDarkroom {
		kept = v1alpha1.LastWriter(metadata.GetManagedFields())
	} else {
		kept = drift.SpecificationWriters(metadata)
	}
	metadata.SetManagedFields(kept)
	share(metadata)
	return object, nil
}

// share replaces parts of an object by equal parts of other cached objects, to save memory. The objects of a Darkroom
// have the same labels and owner, and many Darkrooms have the same conditions.
func share(metadata metav1.Object) {
	metadata.SetNamespace(text(metadata.GetNamespace()))
	metadata.SetLabels(texts(metadata.GetLabels()))
	metadata.SetAnnotations(texts(metadata.GetAnnotations()))
	owners := metadata.GetOwnerReferences()
	for i := range owners {
		owners[i].APIVersion, owners[i].Kind, owners[i].Name = text(owners[i].APIVersion),
			text(owners[i].Kind), text(owners[i].Name)
		owners[i].UID = types.UID(text(string(owners[i].UID)))
	}
	if darkroom, ok := metadata.(*v1alpha1.Darkroom); ok {
		for i := range darkroom.Status.Conditions {
			condition := &darkroom.Status.Conditions[i]
			condition.Type, condition.Reason = text(condition.Type), text(condition.Reason)
			condition.Status = metav1.ConditionStatus(text(string(condition.Status)))
			condition.Message = text(condition.Message)
		}
	}
}

// text returns a shared copy of a string.
func text(value string) string { return unique.Make(value).Value() }

// recent contains the labels and annotations of recently cached objects, by their digest. The objects of a Darkroom
// have equal ones and are cached at nearly the same time: at its installation, or at startup. Without sharing, 10,000
// Darkrooms would take 44 MiB more. Users can write different ones as often as they like, so at most mostShared are
// kept, of at most largestShared bytes each, for sharedFor.
var recent = cache.NewExpiring()

const (
	mostShared    = 1 << 16
	largestShared = 1 << 10
	sharedFor     = time.Minute
)

// texts returns a recently cached map with the same content, or else a copy. It must not be modified.
func texts(values map[string]string) map[string]string {
	size := 0
	for key, value := range values {
		size += len(key) + len(value)
	}
	if size == 0 || size > largestShared {
		return values
	}
	digest := manifest.Digest(values)
	if known, found := recent.Get(digest); found {
		return known.(map[string]string) //nolint:forcetypeassert // nothing else is stored
	}
	out := make(map[string]string, len(values))
	for key, value := range values {
		out[text(key)] = text(value)
	}
	if recent.Len() < mostShared {
		recent.Set(digest, out, sharedFor)
	}
	return out
}

// withoutPodSpec drops most of a Deployment's memory: the managed fields, the strategy, and the pod template except for
// the images, the ServiceAccount and the version of the credentials.
func withoutPodSpec(object any) (any, error) {
	if deployment, ok := object.(*appsv1.Deployment); ok {
		deployment.Spec.Strategy = appsv1.DeploymentStrategy{}
		pods := &deployment.Spec.Template
		images := make([]corev1.Container, len(pods.Spec.Containers))
		for i, container := range pods.Spec.Containers {
			images[i] = corev1.Container{Name: container.Name, Image: container.Image}
		}
		var annotations map[string]string
		if version, found := pods.Annotations[values.AnnotationCredentials]; found {
			annotations = map[string]string{values.AnnotationCredentials: version}
		}
		deployment.Spec.Template = corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Annotations: annotations},
			Spec:       corev1.PodSpec{Containers: images, ServiceAccountName: pods.Spec.ServiceAccountName},
		}
	}
	return withoutManagedFields(object)
}
