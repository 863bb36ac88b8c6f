package controller

import (
	"context"
	"fmt"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/caches"
	"github.com/darkroom-operator/darkroom-operator/internal/credentials"
	"github.com/darkroom-operator/darkroom-operator/internal/release/storage"
)

// objectWatches add watches of managed objects to the controllers.
type objectWatches struct {
	manager      manager.Manager
	helm, status controller.Controller
}

// add watches a kind. It also works while the controllers run.
func (w *objectWatches) add(kind caches.Kind) error {
	err := w.helm.Watch(w.owned(kind, objectTouched()))
	// Metadata is enough to detect a change of a Service; the reconciler reads the Service itself.
	if err == nil && (kind.Typed != nil || kind.Kind == "Service") {
		err = w.status.Watch(w.owned(kind))
	}
	if err != nil {
		return fmt.Errorf("watch %ss: %w", kind.Kind, err)
	}
	return nil
}

// owned enqueues the Darkrooms that own objects of a kind.
func (w *objectWatches) owned(kind caches.Kind, predicates ...predicate.Predicate) source.Source {
	enqueue := handler.EnqueueRequestForOwner(w.manager.GetScheme(), w.manager.GetRESTMapper(), &v1alpha1.Darkroom{},
		handler.OnlyControllerOwner())
	return source.Kind(w.manager.GetCache(), kind.Object(), enqueue, predicates...)
}

// enqueueAll enqueues all Darkrooms for the Helm controller.
func (w *objectWatches) enqueueAll() error {
	return w.helm.Watch(source.Func(func(ctx context.Context, queue requestQueue) error {
		list := &v1alpha1.DarkroomList{}
		if err := w.manager.GetClient().List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			return fmt.Errorf("list Darkrooms: %w", err)
		}
		for i := range list.Items {
			queue.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
		return nil
	}))
}

// watchSecrets enqueues a Darkroom when its referenced Secret is created, changed or deleted. It also enqueues the
// Darkroom when a revision of a foreign Helm release with its name changes, because the name may be free then. Other
// Secrets cost only index lookups.
func watchSecrets(controller *ctrl.Builder, versions *credentials.Versions, others, own cache.Cache) {
	affected := func(ctx context.Context, secret *metav1.PartialObjectMetadata) []reconcile.Request {
		keys, err := versions.Referrers(ctx, client.ObjectKeyFromObject(secret))
		if err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "Failed to enqueue Darkrooms for a Secret")
		}
		if secret.Labels[v1alpha1.LabelDarkroom] == "" {
			for _, release := range storage.IndexFunc(secret) {
				key := types.NamespacedName{Namespace: secret.Namespace, Name: release}
				if own.Get(ctx, key, &v1alpha1.Darkroom{}, client.UnsafeDisableDeepCopy) == nil {
					keys = append(keys, key)
				}
			}
		}
		return requestsFor(keys)
	}
	for _, cached := range []cache.Cache{others, own} {
		controller.WatchesRawSource(source.Kind(cached, caches.SecretMetadata(),
			handler.TypedEnqueueRequestsFromMapFunc(affected),
			predicate.TypedResourceVersionChangedPredicate[*metav1.PartialObjectMetadata]{}))
	}
}

// watchClasses enqueues the Darkrooms whose Ingress names an IngressClass that is created or deleted.
func watchClasses(controller *ctrl.Builder, cached client.Reader) {
	users := func(ctx context.Context, class client.Object) (requests []reconcile.Request) {
		list := &networkingv1.IngressList{}
		if err := cached.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "Failed to enqueue Darkrooms for an IngressClass")
		}
		for i := range list.Items {
			ingress := &list.Items[i]
			if name := ingress.Spec.IngressClassName; name != nil && *name == class.GetName() {
				requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(ingress)})
			}
		}
		return requests
	}
	comesOrGoes := predicate.Funcs{UpdateFunc: func(event.UpdateEvent) bool { return false }}
	controller.WatchesMetadata(caches.IngressClass(), handler.EnqueueRequestsFromMapFunc(users),
		builder.WithPredicates(comesOrGoes))
}

type requestQueue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// wakeBy returns a source that enqueues Darkrooms after a delay when wake is called; wake is passed to start once the
// controller has started.
func wakeBy(delay time.Duration, start func(wake func(...types.NamespacedName))) source.Source {
	return source.Func(func(_ context.Context, queue requestQueue) error {
		start(func(keys ...types.NamespacedName) {
			for _, request := range requestsFor(keys) {
				queue.AddAfter(request, delay)
			}
		})
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
