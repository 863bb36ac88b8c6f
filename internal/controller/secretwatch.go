package controller

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/caches"
	"github.com/darkroom-operator/darkroom-operator/internal/credentials"
	"github.com/darkroom-operator/darkroom-operator/internal/release/storage"
)

// watchCredentials enqueues a Darkroom when the Secret that it references is created, changed
// or deleted. Other Secrets cost one lookup in an index.
func watchCredentials(controller *ctrl.Builder, versions *credentials.Versions, in ...cache.Cache) {
	referrers := func(ctx context.Context, secret *metav1.PartialObjectMetadata) []reconcile.Request {
		keys, err := versions.Referrers(ctx, keyOf(secret))
		if err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "Failed to enqueue Darkrooms for a Secret")
		}
		return requestsFor(keys)
	}
	for _, cached := range in {
		controller.WatchesRawSource(source.Kind(cached, caches.SecretMetadata(), handler.TypedEnqueueRequestsFromMapFunc(referrers),
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
	controller.WatchesRawSource(source.Kind(others, caches.SecretMetadata(),
		handler.TypedFuncs[*metav1.PartialObjectMetadata, reconcile.Request]{DeleteFunc: freed}))
}

func keyOf(object client.Object) types.NamespacedName { return client.ObjectKeyFromObject(object) }
