package controller

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/darkroom-operator/darkroom-operator/internal/caches"
)

// arrival polls until the cluster serves an optional kind, and then starts to watch it. A kind that is removed later is
// ignored: the informer retries its watch until the kind is served again.
type arrival struct {
	kind    caches.Kind
	api     Discovery
	period  time.Duration
	cache   cache.Cache
	watches *objectWatches
	cluster *Cluster
}

// addArrivals adds an arrival for each optional kind that the cluster lacks.
func addArrivals(mgr manager.Manager, api Discovery, watches *objectWatches, options Options) error {
	for _, kind := range optionalKinds {
		if options.Cluster.serves(kind.GroupVersionKind) {
			continue
		}
		if err := mgr.Add(&arrival{
			kind: kind, api: api, period: options.DiscoveryPeriod, cache: mgr.GetCache(), watches: watches,
			cluster: options.Cluster,
		}); err != nil {
			return fmt.Errorf("wait for %ss: %w", kind.Kind, err)
		}
	}
	return nil
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: standby managers also watch the kind.
func (*arrival) NeedLeaderElection() bool { return false }

// Start implements manager.Runnable.
func (a *arrival) Start(ctx context.Context) error {
	err := wait.PollUntilContextCancel(ctx, a.period, false, a.hasCome)
	if err == nil {
		err = a.use(ctx)
	}
	if ctx.Err() != nil {
		return nil //nolint:nilerr // the manager stops
	}
	return err
}

// use watches the kind. The kind counts as served once its index, watches and cache are ready. Then all Darkrooms are
// reconciled.
func (a *arrival) use(ctx context.Context) error {
	if err := caches.IndexOwners(ctx, a.cache, []caches.Kind{a.kind}); err != nil {
		return err
	}
	if err := a.watches.add(a.kind); err != nil {
		return err
	}
	if _, err := a.cache.GetInformer(ctx, a.kind.Object()); err != nil { // waits for the cache to sync
		return fmt.Errorf("fill the cache of %ss: %w", a.kind.Kind, err)
	}
	a.cluster.add(a.kind)
	ctrl.LoggerFrom(ctx).Info("The cluster now serves an optional kind", "kind", a.kind.String())
	return a.watches.enqueueAll()
}

// hasCome reports whether the cluster now serves the kind. An error is logged and counts as no.
func (a *arrival) hasCome(ctx context.Context) (bool, error) {
	found, err := isServed(ctx, a.api, resourceOf(a.kind.GroupVersionKind))
	if err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Failed to check whether the cluster serves a kind", "kind", a.kind.String())
	}
	return found, nil
}
