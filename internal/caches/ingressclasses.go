package caches

import (
	"context"
	"fmt"

	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var ingressClass = networkingv1.SchemeGroupVersion.WithKind("IngressClass")

// IngressClass returns empty metadata of an IngressClass, for a read or a watch. Options caches IngressClasses only if
// the caches are not limited to namespaces, because a Role cannot grant the permission.
func IngressClass() *metav1.PartialObjectMetadata {
	class := &metav1.PartialObjectMetadata{}
	class.SetGroupVersionKind(ingressClass)
	return class
}

// HasClass returns a function that reports whether an IngressClass exists.
func HasClass(in client.Reader) func(context.Context, string) (bool, error) {
	return func(ctx context.Context, name string) (bool, error) {
		err := in.Get(ctx, types.NamespacedName{Name: name}, IngressClass(), client.UnsafeDisableDeepCopy)
		if err != nil && !apierrors.IsNotFound(err) {
			return false, fmt.Errorf("get IngressClass %s: %w", name, err)
		}
		return err == nil, nil
	}
}
