package caches

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/internal/release/ownership"
)

// IndexOwners adds the index of objects by the Darkroom that owns them.
func IndexOwners(ctx context.Context, in client.FieldIndexer, kinds []Kind) error {
	for _, kind := range kinds {
		if err := in.IndexField(ctx, kind.Object(), ownership.Index, ownership.IndexFunc); err != nil {
			return fmt.Errorf("index %ss: %w", kind.Kind, err)
		}
	}
	return nil
}

// Cached returns a function that gets an object from the caches without copying it. The function returns nil for kinds
// that are not cached.
func Cached(
	in client.Reader, kinds func() []Kind,
) func(context.Context, schema.GroupKind, types.NamespacedName) (metav1.Object, error) {
	return func(ctx context.Context, kind schema.GroupKind, key types.NamespacedName) (metav1.Object, error) {
		cached := kinds()
		at := slices.IndexFunc(cached, func(k Kind) bool { return k.GroupKind() == kind })
		if at < 0 {
			return nil, nil //nolint:nilnil // the kind is not cached
		}
		object := cached[at].Object()
		if err := in.Get(ctx, key, object, client.UnsafeDisableDeepCopy); err != nil {
			return nil, err
		}
		return object, nil
	}
}

// Owned returns a function that visits the objects that have a Darkroom's key in the index
// ownership.Index, without copying them.
func Owned(
	in client.Reader, kinds func() []Kind,
) func(context.Context, client.Object, func(schema.GroupVersionKind, metav1.Object)) error {
	return func(ctx context.Context, darkroom client.Object, visit func(schema.GroupVersionKind, metav1.Object)) error {
		for _, kind := range kinds() {
			list := kind.List()
			err := in.List(ctx, list, client.InNamespace(darkroom.GetNamespace()),
				client.MatchingFields{ownership.Index: ownership.IndexKey(darkroom.GetUID())}, client.UnsafeDisableDeepCopy)
			if err == nil {
				err = meta.EachListItem(list, func(item runtime.Object) error {
					object, err := meta.Accessor(item)
					if err == nil {
						visit(kind.GroupVersionKind, object)
					}
					return err
				})
			}
			if err != nil {
				return fmt.Errorf("list %ss: %w", kind.Kind, err)
			}
		}
		return nil
	}
}
