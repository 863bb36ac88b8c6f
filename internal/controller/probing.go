package controller

import (
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"

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
