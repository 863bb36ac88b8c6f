package caches

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release/storage"
)

// OtherSecrets returns a cache of the names and versions of Secrets that do not belong to a Darkroom, and adds it to a
// manager. The cache contains the Secrets that Darkrooms reference, and shows which names of Helm releases are in use.
func OtherSecrets(ctx context.Context, mgr manager.Manager, namespaces []string) (cache.Cache, error) {
	foreign, err := labels.NewRequirement(v1alpha1.LabelDarkroom, selection.DoesNotExist, nil)
	if err != nil {
		return nil, err
	}
	others, err := cache.New(mgr.GetConfig(), cache.Options{
		HTTPClient:        mgr.GetHTTPClient(),
		Scheme:            mgr.GetScheme(),
		Mapper:            mapperOf([]Kind{{GroupVersionKind: corev1.SchemeGroupVersion.WithKind("Secret")}}),
		DefaultNamespaces: namespaceConfigs(namespaces),
		ByObject: map[client.Object]cache.ByObject{SecretMetadata(): {
			Label:     labels.NewSelector().Add(*foreign),
			Transform: nameAndVersion,
		}},
	})
	if err != nil {
		return nil, fmt.Errorf("create cache of Secrets: %w", err)
	}
	if err := mgr.Add(cacheRunnable{others}); err != nil {
		return nil, fmt.Errorf("add cache of Secrets: %w", err)
	}
	return others, IndexReleases(ctx, others)
}

// IndexReleases adds the index of Secrets by Helm release.
func IndexReleases(ctx context.Context, in client.FieldIndexer) error {
	if err := in.IndexField(ctx, SecretMetadata(), storage.Index, storage.IndexFunc); err != nil {
		return fmt.Errorf("index Secrets by release: %w", err)
	}
	return nil
}

// Secret returns a function that gets the metadata of a Secret from several caches. The function returns nil if no
// cache contains the Secret.
func Secret(in ...client.Reader) func(context.Context, types.NamespacedName) (*metav1.PartialObjectMetadata, error) {
	return func(ctx context.Context, key types.NamespacedName) (*metav1.PartialObjectMetadata, error) {
		for _, reader := range in {
			secret := SecretMetadata()
			err := reader.Get(ctx, key, secret, client.UnsafeDisableDeepCopy)
			if err == nil {
				return secret, nil
			}
			if !apierrors.IsNotFound(err) {
				return nil, fmt.Errorf("get Secret %s: %w", key, err)
			}
		}
		return nil, nil //nolint:nilnil // the Secret is missing
	}
}

// cacheRunnable makes a manager start a cache together with its own caches.
type cacheRunnable struct{ cache.Cache }

// GetCache makes the manager treat this as a cache.
func (c cacheRunnable) GetCache() cache.Cache { return c.Cache }

// SecretMetadata returns empty metadata of a Secret, for a read or a watch.
func SecretMetadata() *metav1.PartialObjectMetadata {
	secret := &metav1.PartialObjectMetadata{}
	secret.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	return secret
}

// nameAndVersion keeps only the name, UID and version of a Secret, and the release of a Helm Secret. Clusters have many
// Secrets, and some have long annotations.
func nameAndVersion(object any) (any, error) {
	full, ok := object.(*metav1.PartialObjectMetadata)
	if !ok {
		return object, nil
	}
	narrow := SecretMetadata()
	narrow.Namespace, narrow.Name, narrow.UID, narrow.ResourceVersion = full.Namespace, full.Name,
		full.UID, full.ResourceVersion
	narrow.Labels = storage.ReleaseLabels(full)
	return narrow, nil
}
