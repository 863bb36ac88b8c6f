// Package caches decides what the operator caches: which kinds of objects, which of their fields, and with which
// indexes. The memory of the operator depends on it.
package caches

import (
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Kind is a kind of object that belongs to Darkrooms.
type Kind struct {
	schema.GroupVersionKind

	// Typed and TypedList are set for kinds that are cached in full, because the status controller reads them. Of other
	// kinds, such as Secrets, only the metadata is cached.
	Typed     client.Object
	TypedList client.ObjectList
}

// Object returns an empty object of the cached type of this kind.
func (k Kind) Object() client.Object {
	if k.Typed != nil {
		return k.Typed.DeepCopyObject().(client.Object) //nolint:forcetypeassert // the copy has the same type
	}
	metadata := &metav1.PartialObjectMetadata{}
	metadata.SetGroupVersionKind(k.GroupVersionKind)
	return metadata
}

// List returns an empty list of the cached type of this kind.
func (k Kind) List() client.ObjectList {
	if k.TypedList != nil {
		return k.TypedList.DeepCopyObject().(client.ObjectList) //nolint:forcetypeassert // the copy has the same type
	}
	metadata := &metav1.PartialObjectMetadataList{}
	metadata.SetGroupVersionKind(k.GroupVersion().WithKind(k.Kind + "List"))
	return metadata
}

// Everywhere returns the kinds of managed objects that every cluster serves.
func Everywhere() []Kind {
	return []Kind{
		{
			GroupVersionKind: appsv1.SchemeGroupVersion.WithKind("Deployment"), Typed: &appsv1.Deployment{},
			TypedList: &appsv1.DeploymentList{},
		},
		{
			GroupVersionKind: networkingv1.SchemeGroupVersion.WithKind("Ingress"), Typed: &networkingv1.Ingress{},
			TypedList: &networkingv1.IngressList{},
		},
		{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Service")},
		{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("ConfigMap")},
		{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Secret")},
		{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("ServiceAccount")},
		{GroupVersionKind: autoscalingv2.SchemeGroupVersion.WithKind("HorizontalPodAutoscaler")},
		{GroupVersionKind: policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget")},
		{GroupVersionKind: networkingv1.SchemeGroupVersion.WithKind("NetworkPolicy")},
	}
}
