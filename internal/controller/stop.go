package controller

import (
	"context"
	"errors"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// stoppable is a reconciler that a stop of the operator ends in silence: what waits
// for its turn then is not begun, and what breaks off is no error. The next operator
// looks at every Darkroom, and recovers what was left half done.
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
		ctrl.LoggerFrom(ctx).V(1).Info("Broken off: the operator stops", "cause", err.Error())
		return reconcile.Result{}, nil
	}
	return result, err
}

// brokenOff tells whether an error comes of the operator's stop.
func brokenOff(ctx context.Context, err error) bool {
	return err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled)
}
