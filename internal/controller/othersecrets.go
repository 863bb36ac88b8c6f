package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/credentials"
	"github.com/darkroom-operator/darkroom-operator/internal/release/storage"
)

// newOtherSecrets returns a cache of the names and versions of the Secrets that belong to no
// Darkroom, and adds it to a manager. It shows the Secrets that Darkrooms reference, and
// which names of Helm releases are in use.
func newOtherSecrets(ctx context.Context, mgr manager.Manager, namespaces []string) (cache.Cache, error) {
	foreign, err := labels.NewRequirement(v1alpha1.LabelDarkroom, selection.DoesNotExist, nil)
	if err != nil {
		return nil, err
	}
	others, err := cache.New(mgr.GetConfig(), cache.Options{
		HTTPClient:        mgr.GetHTTPClient(),
		Scheme:            mgr.GetScheme(),
		Mapper:            cacheMapper([]watched{{kind: corev1.SchemeGroupVersion.WithKind("Secret")}}),
		DefaultNamespaces: namespaceConfigs(namespaces),
		ByObject: map[client.Object]cache.ByObject{secretMetadata(): {
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
	return others, indexReleases(ctx, others)
}

// indexReleases adds the index of Secrets by Helm release.
func indexReleases(ctx context.Context, in cache.Cache) error {
	if err := in.IndexField(ctx, secretMetadata(), storage.Index, storage.IndexFunc); err != nil {
		return fmt.Errorf("index Secrets by release: %w", err)
	}
	return nil
}

// secretLookup finds the metadata of Secrets in some caches; nil if none has a Secret.
func secretLookup(caches ...client.Reader) func(context.Context, types.NamespacedName) (*metav1.PartialObjectMetadata, error) {
	return func(ctx context.Context, key types.NamespacedName) (*metav1.PartialObjectMetadata, error) {
		for _, reader := range caches {
			secret := secretMetadata()
			err := reader.Get(ctx, key, secret, client.UnsafeDisableDeepCopy)
			if err == nil {
				return secret, nil
			}
			if !apierrors.IsNotFound(err) {
				return nil, fmt.Errorf("look for Secret %s: %w", key, err)
			}
		}
		return nil, nil //nolint:nilnil // the Secret is missing, which is no error
	}
}

// watchCredentials enqueues a Darkroom when the Secret that it references is created, changed
// or deleted. Other Secrets cost one lookup in an index.
func watchCredentials(controller *ctrl.Builder, versions *credentials.Versions, caches ...cache.Cache) {
	referrers := func(ctx context.Context, secret *metav1.PartialObjectMetadata) []reconcile.Request {
		keys, err := versions.Referrers(ctx, keyOf(secret))
		if err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "Failed to enqueue Darkrooms for a Secret")
		}
		return requestsFor(keys)
	}
	for _, cached := range caches {
		controller.WatchesRawSource(source.Kind(cached, secretMetadata(), handler.TypedEnqueueRequestsFromMapFunc(referrers),
			predicate.TypedResourceVersionChangedPredicate[*metav1.PartialObjectMetadata]{}))
	}
}

// watchFreedNames reconciles a Darkroom when a revision of a foreign Helm release of its name
// is deleted: the name may be free then.
func watchFreedNames(controller *ctrl.Builder, others cache.Cache, darkrooms client.Reader) {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	freed := func(ctx context.Context, e event.TypedDeleteEvent[*metav1.PartialObjectMetadata], queue queue) {
		for _, release := range storage.IndexFunc(e.Object) {
			key := types.NamespacedName{Namespace: e.Object.Namespace, Name: release}
			if darkrooms.Get(ctx, key, &v1alpha1.Darkroom{}, client.UnsafeDisableDeepCopy) == nil {
				queue.Add(reconcile.Request{NamespacedName: key})
			}
		}
	}
	controller.WatchesRawSource(source.Kind(others, secretMetadata(),
		handler.TypedFuncs[*metav1.PartialObjectMetadata, reconcile.Request]{DeleteFunc: freed}))
}

// cacheRunnable makes a manager start a cache together with its own.
type cacheRunnable struct{ cache.Cache }

// GetCache makes the manager treat this as a cache.
func (c cacheRunnable) GetCache() cache.Cache { return c.Cache }

func secretMetadata() *metav1.PartialObjectMetadata {
	secret := &metav1.PartialObjectMetadata{}
	secret.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	return secret
}

// nameAndVersion keeps only the name and version of a Secret's metadata, and the release of
// Helm's: clusters have many Secrets, and some have long annotations.
func nameAndVersion(object any) (any, error) {
	full, ok := object.(*metav1.PartialObjectMetadata)
	if !ok {
		return object, nil
	}
	narrow := secretMetadata()
	narrow.Namespace, narrow.Name, narrow.UID, narrow.ResourceVersion = full.Namespace, full.Name, full.UID, full.ResourceVersion
	narrow.Labels = storage.ReleaseLabels(full)
	return narrow, nil
}

func keyOf(object client.Object) types.NamespacedName { return client.ObjectKeyFromObject(object) }
