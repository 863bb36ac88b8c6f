package controller

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release"
)

// NewHelmReconciler makes the Helm reconciler without a controller that calls it.
func NewHelmReconciler(ctx context.Context, mgr manager.Manager, options Options) (reconcile.Reconciler, error) {
	parts, err := assemble(ctx, mgr, &options)
	if err != nil {
		return nil, err
	}
	return parts.helm, nil
}

// Refuse returns the function with which an installation refuses a Darkroom of another.
func Refuse(
	name string, c client.Client, recorder release.Recorder,
) func(context.Context, *v1alpha1.Darkroom, time.Time) (time.Duration, error) {
	return (&installation{patcher: patcher{c, c}, name: name, recorder: recorder, leases: leases{live: c}}).refuse
}
