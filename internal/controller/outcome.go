package controller

import (
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/darkroom-operator/darkroom-operator/internal/release"
	"github.com/darkroom-operator/darkroom-operator/internal/release/storage"
)

const (
	// staleRetry is the time until the next attempt if the cached Darkroom was outdated, or its revision was deleted
	// during the reconcile.
	staleRetry = 200 * time.Millisecond
	// refusedRetry is the time between two attempts at a write that the API server refuses, until a user
	// removes the cause. A change of the Darkroom is reconciled at once.
	refusedRetry = retryMost
	// checkPeriod is the time between two checks for changes that no event reports: a foreign object is deleted,
	// a load balancer releases a route, or fewer Darkrooms replace their pods.
	checkPeriod = 30 * time.Second
	// jitter is the largest fraction of a period that is added at random.
	jitter = 0.1
)

// outcome is the consequence of the error of a reconcile.
type outcome struct {
	// waits is set if nothing failed: something else comes first. The status stays as it is.
	waits bool
	// final is set if only a change of the Darkroom, or of the operator, removes the cause.
	final bool
	// refused is set if the API server refuses a write.
	refused bool
	// again is the time until the next attempt; 0 means the back-off of the queue.
	again time.Duration
	// event is the reason of the event that reports the error; empty for no event.
	event string
}

// outcomeOf decides what follows from the error of a reconcile: the next attempt and the event. What the conditions say
// is decided by session.complete.
func outcomeOf(err error) outcome {
	switch {
	case err == nil:
		return outcome{}
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		// The Darkroom is deleted with its namespace: nothing is restored.
		return outcome{waits: true, again: wait.Jitter(refusedRetry, jitter)}
	case errors.Is(err, errStale), errors.Is(err, storage.ErrDeleted):
		return outcome{waits: true, again: staleRetry}
	case errors.Is(err, release.ErrLeaving):
		return outcome{waits: true, again: wait.Jitter(checkPeriod, jitter)}
	case errors.Is(err, release.ErrBusy):
		return outcome{} // another Helm client changes the release: tried again after a back-off, without an event
	case errors.Is(err, storage.ErrForeignRelease):
		return outcome{event: EventForeignRelease, again: wait.Jitter(checkPeriod, jitter)}
	case isInvalid(err):
		return outcome{event: EventRefused, final: true}
	case isRefusal(err):
		return outcome{refused: true, event: release.EventFailed, again: wait.Jitter(refusedRetry, jitter)}
	}
	return outcome{event: release.EventFailed}
}
