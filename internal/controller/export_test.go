package controller

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// NewHelmReconciler creates the Helm reconciler without a controller.
func NewHelmReconciler(ctx context.Context, mgr manager.Manager, options Options) (reconcile.Reconciler, error) {
	parts, err := assemble(ctx, mgr, &options)
	if err != nil {
		return nil, err
	}
	return parts.helm, nil
}
