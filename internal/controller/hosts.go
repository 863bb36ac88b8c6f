package controller

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/hosts"
)

// othersDelay is the delay before a Darkroom is reconciled because of the claims of other Darkrooms. Other Darkrooms
// can cause any number of events, and each reconcile repeats rejected writes, so all events within the delay cause one
// reconcile.
const othersDelay = time.Second

// hostLeases are the Leases of hosts, as used by the controllers.
type hostLeases struct {
	hosts.Claims

	isSharded bool
	// wake enqueues Darkrooms after othersDelay. It is nil until the Helm controller starts, which reconciles all
	// Darkrooms.
	wake atomic.Pointer[func(...types.NamespacedName)]

	restoring sync.Mutex
	restored  bool
}

// Claim claims the hosts of a Darkroom like [hosts.Claims]. It first recreates all lost Leases, once per process and again
// after their namespace was deleted.
func (h *hostLeases) Claim(ctx context.Context, darkroom *v1alpha1.Darkroom) ([]hosts.Refusal, error) {
	if err := h.restoreOnce(ctx); err != nil {
		return nil, err
	}
	refusals, err := h.Claims.Claim(ctx, darkroom)
	return refusals, h.noteLoss(err)
}

func (h *hostLeases) restoreOnce(ctx context.Context) error {
	h.restoring.Lock()
	defer h.restoring.Unlock()
	if h.restored {
		return nil
	}
	err := h.RestoreAll(ctx)
	h.restored = err == nil
	return err
}

// noteLoss lets the next claim recreate all lost Leases if a Lease could not be created because its namespace is being
// deleted or is gone. It returns the error.
func (h *hostLeases) noteLoss(err error) error {
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) || apierrors.IsNotFound(err) {
		h.restoring.Lock()
		defer h.restoring.Unlock()
		h.restored = false
	}
	return err
}

// lostLease identifies a deleted Lease by its host and last holder.
type lostLease struct {
	host   string
	holder types.NamespacedName
}

// addHosts adds the controller for deleted Leases. It recreates the Lease if the holder still wants or routes the host.
// Otherwise it enqueues the Darkrooms that want the host.
func addHosts(mgr manager.Manager, h *hostLeases, options Options) error {
	deleted := predicate.TypedFuncs[*coordinationv1.Lease]{
		CreateFunc: func(event.TypedCreateEvent[*coordinationv1.Lease]) bool { return false },
		UpdateFunc: func(event.TypedUpdateEvent[*coordinationv1.Lease]) bool { return false },
	}
	enqueue := handler.TypedEnqueueRequestsFromMapFunc(
		func(_ context.Context, lease *coordinationv1.Lease) []lostLease {
			h.Lost(lease)
			return []lostLease{{host: lease.Name, holder: hosts.HolderOf(lease)}}
		})
	workers := workers(options)
	return builder.TypedControllerManagedBy[lostLease](mgr).
		Named("darkroom-hosts").
		WithOptions(controller.TypedOptions[lostLease]{
			MaxConcurrentReconciles: workers.MaxConcurrentReconciles,
			RateLimiter:             backOff[lostLease](),
		}).
		WatchesRawSource(source.TypedKind(mgr.GetCache(), &coordinationv1.Lease{}, enqueue, deleted)).
		Complete(reconcile.TypedFunc[lostLease](h.restoreOrWake))
}

func (h *hostLeases) restoreOrWake(ctx context.Context, lost lostLease) (reconcile.Result, error) {
	isHeld, err := h.Restore(ctx, lost.holder, lost.host)
	if err != nil || isHeld {
		return reconcile.Result{}, h.noteLoss(err)
	}
	waiting, err := h.Wanting(ctx, lost.host)
	if err == nil && len(waiting) > 0 {
		if wake := h.wake.Load(); wake != nil {
			(*wake)(waiting...)
		}
	}
	return reconcile.Result{}, err
}

// watchLeases watches Leases that are created or change their holder. It enqueues the holder at once, and other
// Darkrooms that want the host after othersDelay. Deletions are passed on only if withDeleted is set.
func watchLeases(to *ctrl.Builder, h *hostLeases, in cache.Cache, withDeleted bool) {
	enqueue := func(ctx context.Context, lease *coordinationv1.Lease, queue requestQueue) {
		wanting, err := h.Wanting(ctx, lease.Name)
		if err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "Failed to enqueue the Darkrooms that want a host", "host", lease.Name)
		}
		holder := hosts.HolderOf(lease)
		for _, key := range wanting {
			if key != holder {
				queue.AddAfter(reconcile.Request{NamespacedName: key}, othersDelay)
			}
		}
		// A holder that wants the host has just claimed it and needs no reconcile by the Helm controller.
		if h.Watches(holder.Namespace) && (withDeleted || !slices.Contains(wanting, holder)) {
			queue.Add(reconcile.Request{NamespacedName: holder})
		}
	}
	to.WatchesRawSource(source.Kind(in, &coordinationv1.Lease{},
		handler.TypedFuncs[*coordinationv1.Lease, reconcile.Request]{
			CreateFunc: func(ctx context.Context, e event.TypedCreateEvent[*coordinationv1.Lease], queue requestQueue) {
				enqueue(ctx, e.Object, queue)
			},
			UpdateFunc: func(ctx context.Context, e event.TypedUpdateEvent[*coordinationv1.Lease], queue requestQueue) {
				if hosts.HolderOf(e.ObjectOld) != hosts.HolderOf(e.ObjectNew) {
					enqueue(ctx, e.ObjectNew, queue)
				}
			},
			DeleteFunc: func(ctx context.Context, e event.TypedDeleteEvent[*coordinationv1.Lease], queue requestQueue) {
				if withDeleted {
					enqueue(ctx, e.Object, queue)
				}
			},
		}))
}
