package release

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
	"github.com/darkroom-operator/darkroom-operator/internal/release/ownership"
)

// cached is the content of a cache.
type cached map[schema.GroupVersionKind][]metav1.Object

func photos() *v1alpha1.Darkroom {
	return &v1alpha1.Darkroom{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "photos", UID: "uid-1"}}
}

// ownedMeta returns the metadata of an object of the Darkroom photos.
func ownedMeta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: "shop", Name: name, UID: types.UID("uid-of-" + name), ResourceVersion: "5",
		Labels:          map[string]string{v1alpha1.LabelDarkroom: "photos"},
		OwnerReferences: []metav1.OwnerReference{ownership.Reference(photos())},
	}
}

func clientWith(objects cached) *ActionClient {
	clock := clocktesting.NewFakePassiveClock(time.Unix(1_000_000, 0))
	config := Config{
		Clock: clock,
		Cached: func(_ context.Context, kind schema.GroupKind, key types.NamespacedName) (metav1.Object, error) {
			for have, list := range objects {
				for _, object := range list {
					if have.GroupKind() == kind && object.GetName() == key.Name {
						return object, nil
					}
				}
			}
			return nil, apierrors.NewNotFound(schema.GroupResource{Group: kind.Group, Resource: kind.Kind}, key.Name)
		},
		Owned: func(_ context.Context, _ client.Object, visit func(schema.GroupVersionKind, metav1.Object)) error {
			for kind, list := range objects {
				for _, object := range list {
					visit(kind, object)
				}
			}
			return nil
		},
	}
	releases := New(config)
	return &ActionClient{
		Releases: releases, memory: releases.of(photos()),
		ctx: context.Background(), darkroom: photos(), key: types.NamespacedName{Namespace: "shop", Name: "photos"},
	}
}

// hasApplied records that a client applied an object. The caches may not show the object.
func (c *ActionClient) hasApplied(kind schema.GroupVersionKind, name string) {
	applied := &unstructured.Unstructured{}
	applied.SetGroupVersionKind(kind)
	applied.SetName(name)
	live := applied.DeepCopy()
	live.SetUID(types.UID("uid-of-" + name))
	live.SetGeneration(9)
	c.memory.objects.Applied(applied, live)
}

func keyOf(kind schema.GroupVersionKind, name string) manifest.Key {
	return manifest.Key{GroupKind: kind.GroupKind(), Name: name}
}

func ownedObjects(t *testing.T, c *ActionClient, desired ...manifest.Key) []string {
	t.Helper()
	found, err := c.ownedExcept(desired)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, object := range found {
		names = append(names, object.String())
	}
	return names
}

var (
	services    = corev1.SchemeGroupVersion.WithKind("Service")
	configMaps  = corev1.SchemeGroupVersion.WithKind("ConfigMap")
	accounts    = corev1.SchemeGroupVersion.WithKind("ServiceAccount")
	secretsKind = corev1.SchemeGroupVersion.WithKind("Secret")
	autoscalers = schema.GroupVersionKind{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"}
	ingressKind = networkingv1.SchemeGroupVersion.WithKind("Ingress")
	routeKind   = schema.GroupVersion(gatewayv1.GroupVersion).WithKind("HTTPRoute")
)

func metadata(name string, change func(*metav1.ObjectMeta)) metav1.Object {
	object := &metav1.PartialObjectMetadata{ObjectMeta: ownedMeta(name)}
	if change != nil {
		change(&object.ObjectMeta)
	}
	return object
}
