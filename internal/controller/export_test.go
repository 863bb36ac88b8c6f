package controller

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// NewHelmReconciler makes the Helm reconciler without a controller that calls it.
func NewHelmReconciler(ctx context.Context, mgr manager.Manager, options Options) (reconcile.Reconciler, error) {
	parts, err := assemble(ctx, mgr, &options)
	if err != nil {
		return nil, err
	}
	return parts.helm, nil
}
