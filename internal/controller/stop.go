package controller

import (
	"context"
	"errors"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// stoppable is a reconciler that ends silently when the operator stops: queued requests are
// not started, and an interrupted reconcile is not an error. The next operator reconciles
// every Darkroom and recovers interrupted operations.
type stoppable struct {
	reconcile.Reconciler
}

// Reconcile implements reconcile.Reconciler.
func (s stoppable) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	if ctx.Err() != nil {
		return reconcile.Result{}, nil
	}
	result, err := s.Reconciler.Reconcile(ctx, request)
	if brokenOff(ctx, err) {
		ctrl.LoggerFrom(ctx).V(1).Info("Interrupted because the operator stops", "cause", err.Error())
		return reconcile.Result{}, nil
	}
	return result, err
}

// brokenOff reports whether an error was caused by the stop of the operator.
func brokenOff(ctx context.Context, err error) bool {
	return err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled)
}
