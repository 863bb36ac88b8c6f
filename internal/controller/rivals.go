package controller

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/claims"
)

func newLedger(ctx context.Context, mgr manager.Manager, cluster *Cluster, baseDomain, installation string) (*claims.Ledger, error) {
	cached := claims.Cache{
		Reader:     mgr.GetClient(),
		Live:       mgr.GetAPIReader(),
		BaseDomain: baseDomain,
		Handles: func(darkroom *v1alpha1.Darkroom) bool {
			owner := darkroom.Annotations[v1alpha1.AnnotationInstallation]
			return owner == "" || owner == installation
		},
		Routes: cluster.has(httpRoute),
	}
	if err := cached.Index(ctx, mgr.GetCache()); err != nil {
		return nil, err
	}
	return &claims.Ledger{Cache: cached}, nil
}

// watchRivals enqueues a Darkroom when a claim of one of its hosts by another Darkroom, or
// an Ingress or HTTPRoute with the host, is added or removed.
func watchRivals(controller *ctrl.Builder, cached claims.Cache) {
	for _, object := range append(cached.Carriers(), &v1alpha1.Darkroom{}) {
		controller.Watches(object, rivals(cached), builder.WithPredicates(hostsChanged(cached)))
	}
}

// rivals enqueues the Darkrooms that claim a host of an object and are not its own.
func rivals(cached claims.Cache) handler.EventHandler {
	return handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, object client.Object) []reconcile.Request {
		keys, err := cached.Rivals(ctx, object)
		if err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "Failed to list rivals", "namespace", object.GetNamespace(), "name", object.GetName())
		}
		return requestsFor(keys)
	})
}

// hostsChanged passes objects that gain or lose a host.
func hostsChanged(cached claims.Cache) predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool {
			return !slices.Equal(cached.Hosts(e.ObjectOld), cached.Hosts(e.ObjectNew))
		},
	}
}

// wakeBy is a source of requests by calls of a function, which is set once the controller
// has started.
func wakeBy(wake *func([]types.NamespacedName)) source.Source {
	return source.Func(func(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		*wake = func(keys []types.NamespacedName) {
			for _, request := range requestsFor(keys) {
				queue.Add(request)
			}
		}
		return nil
	})
}

func requestsFor(keys []types.NamespacedName) []reconcile.Request {
	requests := make([]reconcile.Request, len(keys))
	for i, key := range keys {
		requests[i] = reconcile.Request{NamespacedName: key}
	}
	return requests
}
