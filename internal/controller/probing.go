package controller

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/darkroom-operator/darkroom-operator/internal/preflight"
	"github.com/darkroom-operator/darkroom-operator/internal/probe"
	"github.com/darkroom-operator/darkroom-operator/internal/status"
)

// addProber adds a prober to the manager, which probes on the leader only. It gets its
// targets from the status controller, and enqueues Darkrooms whose result changed.
func addProber(mgr manager.Manager, controller *ctrl.Builder, reconciler *status.Reconciler, options Options) error {
	if options.Probe == nil {
		return nil
	}
	prober := probe.New(probe.Options{Probe: options.Probe, Concurrency: options.ProbeConcurrency})
	if options.Darkrooms != nil {
		options.Darkrooms.Probe = prober.Last
	}
	if err := mgr.Add(prober); err != nil {
		return fmt.Errorf("add prober: %w", err)
	}
	reconciler.Source = prober
	controller.WatchesRawSource(wakeBy(&prober.Changed))
	return nil
}

// newPreflight returns the preflight checks of changes, which end with a context; nil if
// probes are turned off.
func newPreflight(ctx context.Context, mgr manager.Manager, options Options) *preflight.Checks {
	if options.ProbePod == nil {
		return nil
	}
	return preflight.New(ctx, preflight.Options{
		Deployment: func(ctx context.Context, key types.NamespacedName) (*appsv1.Deployment, error) {
			deployment := &appsv1.Deployment{}
			return deployment, mgr.GetClient().Get(ctx, key, deployment)
		},
		Pods:  mgr.GetAPIReader(),
		Probe: options.ProbePod,
		Limit: options.MaxPreflights,
		Clock: clock.RealClock{},
	})
}
