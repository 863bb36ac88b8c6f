package controller

import (
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/darkroom-operator/darkroom-operator/internal/release"
	"github.com/darkroom-operator/darkroom-operator/internal/release/storage"
)

// The back-off of a failed reconcile doubles from retryLeast to retryMost. The maximum is short, so that Darkrooms
// recover soon after a fault ends.
const (
	retryLeast = 200 * time.Millisecond
	retryMost  = 12 * time.Second
	// checkPeriod is the interval of checks for changes that cause no event: a foreign object is deleted, a load
	// balancer releases a route, or fewer Darkrooms replace their pods.
	checkPeriod = 30 * time.Second
	// jitter is the maximum random fraction added to a period.
	jitter = 0.1
)

// outcome is the consequence of a reconcile's error: the retry, the event, and what conditions need to know. Only
// outcomeOf judges errors.
type outcome struct {
	// waits is set if nothing failed, but the reconcile has to wait. The status is left unchanged.
	waits bool
	// final is set if only a change of the Darkroom or of the operator can remove the cause.
	final bool
	// foreign is set if Helm has a release of the same name that does not belong to the Darkroom.
	foreign bool
	// refused is set if the API server rejected a write.
	refused bool
	// again is the delay before the next attempt; 0 means the back-off of the queue.
	again time.Duration
	// event is the reason of the event that reports the error; empty for no event.
	event string
}

// outcomeOf judges the error of a reconcile.
func outcomeOf(err error) outcome {
	switch {
	case err == nil:
		return outcome{}
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		// The Darkroom is being deleted with its namespace, so its objects are not repaired.
		return outcome{waits: true, again: wait.Jitter(retryMost, jitter)}
	case errors.Is(err, errStale), errors.Is(err, storage.ErrDeleted):
		return outcome{waits: true, again: retryLeast}
	case errors.Is(err, release.ErrLeaving):
		return outcome{waits: true, again: wait.Jitter(checkPeriod, jitter)}
	case errors.Is(err, release.ErrBusy):
		return outcome{} // another Helm client is changing the release; retry with back-off and without an event
	case errors.Is(err, storage.ErrForeignRelease):
		return outcome{foreign: true, event: EventForeignRelease, again: wait.Jitter(checkPeriod, jitter)}
	case errors.As(err, new(invalidError)):
		return outcome{event: EventRefused, final: true}
	case isRefusal(err):
		// The write is repeated until a user removes the cause. A change of the Darkroom is reconciled at once.
		return outcome{refused: true, event: release.EventFailed, again: wait.Jitter(retryMost, jitter)}
	}
	return outcome{event: release.EventFailed}
}

// result returns the result of a reconcile with this outcome of an error.
func (o outcome) result(err error) (reconcile.Result, error) {
	switch {
	case o.final:
		return reconcile.Result{}, reconcile.TerminalError(err)
	case o.again > 0:
		return reconcile.Result{RequeueAfter: o.again}, nil
	default:
		return reconcile.Result{}, err
	}
}

// isRefusal reports whether the API server will reject a write until a user changes a policy, a quota, permissions or
// the Darkroom.
func isRefusal(err error) bool {
	return apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err)
}

// invalidError marks an error that persists until the Darkroom or the operator is changed.
type invalidError struct{ error }

func (e invalidError) Unwrap() error { return e.error }
