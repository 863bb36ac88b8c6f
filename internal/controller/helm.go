// Package controller wires the controllers of the operator.
//
// The Helm controller (helm.go) drives the reconciler of helm-operator-plugins, which turns a Darkroom into a release.
// That reconciler gets a restricted client (helmclient.go). outcome.go decides what follows from an error, and report.go
// writes the controller's part of the status by server-side apply.
//
// The status controller (package status) reports the observed state. A third controller recreates Leases of hosts that
// were deleted (hosts.go).
//
// Package caches determines the watched kinds and which fields are cached. cluster.go discovers which optional kinds
// and APIs the cluster serves.
package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-logr/logr"
	"github.com/operator-framework/helm-operator-plugins/pkg/reconciler"
	hopvalues "github.com/operator-framework/helm-operator-plugins/pkg/values"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/credentials"
	"github.com/darkroom-operator/darkroom-operator/internal/hosts"
	"github.com/darkroom-operator/darkroom-operator/internal/metrics"
	"github.com/darkroom-operator/darkroom-operator/internal/redact"
	"github.com/darkroom-operator/darkroom-operator/internal/release"
	"github.com/darkroom-operator/darkroom-operator/internal/release/render"
	"github.com/darkroom-operator/darkroom-operator/internal/status"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// helmReconciler drives the reconciler of helm-operator-plugins. It opens a session for each reconcile, reports once at
// the end, and decides on retries.
type helmReconciler struct {
	client  client.Client
	patcher patcher
	options []reconciler.Option
	// values translates Darkrooms. Its input includes state of the cluster: refused hosts and the version of the
	// referenced Secret.
	values      *values.Translator
	hosts       *hostLeases
	credentials *credentials.Versions
	// installation claims Darkrooms for this operator's installation.
	installation *installation
	releases     *release.Releases
	// maxRollouts limits the concurrent rollouts that the operator itself causes; 0 means no limit.
	maxRollouts int
	recorder    release.Recorder
	metrics     *metrics.Metrics
	period      time.Duration
	clock       clock.PassiveClock
}

// helmOptions returns the options of the reconciler of helm-operator-plugins, except for the session.
func helmOptions(chrt *render.Chart, maxHistory int) []reconciler.Option {
	// Operations are logged together with their events, so other messages are for debugging only. A discarding logger
	// saves the allocations of a logger per reconcile.
	logger := ctrl.Log.WithName("helm").V(1)
	if !logger.Enabled() {
		logger = logr.Discard()
	}
	return []reconciler.Option{
		reconciler.WithGroupVersionKind(v1alpha1.GroupVersionKind),
		// The chart has no default values here, because the reconciler would merge them in each reconcile. The renderer
		// merges them when needed.
		reconciler.WithChart(chart.Chart{Metadata: chrt.Metadata}),
		//nolint:staticcheck // deprecated, but the reconciler panics if it is not set
		reconciler.WithValueMapper(hopvalues.MapperFunc(func(v chartutil.Values) chartutil.Values { return v })),
		reconciler.WithMaxReleaseHistory(maxHistory),
		reconciler.WithPauseReconcileHandler(func(_ context.Context, darkroom *unstructured.Unstructured) (bool, error) {
			return v1alpha1.IsPaused(darkroom), nil
		}),
		reconciler.SkipPrimaryGVKSchemeRegistration(true),
		reconciler.WithLog(logger),
		// Do not wait for the deletion: the Helm reconciler considers a Darkroom gone once its finalizer is removed.
		reconciler.WithWaitForDeletionTimeout(time.Second),
	}
}

// untilStopped returns a reconciler that ends silently when the operator stops. Queued requests are not started, and an
// interrupted reconcile is not an error. The next operator reconciles every Darkroom and recovers interrupted
// operations.
func untilStopped(inner reconcile.Reconciler) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		if ctx.Err() != nil {
			return reconcile.Result{}, nil
		}
		result, err := inner.Reconcile(ctx, request)
		if interrupted(ctx, err) {
			ctrl.LoggerFrom(ctx).V(1).Info("Reconcile interrupted by shutdown", "cause", err.Error())
			return reconcile.Result{}, nil
		}
		return result, err
	})
}

// interrupted reports whether an error was caused by the operator's shutdown.
func interrupted(ctx context.Context, err error) bool {
	return err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled)
}

// Reconcile implements reconcile.Reconciler.
func (r *helmReconciler) Reconcile(ctx context.Context, request reconcile.Request) (_ reconcile.Result, err error) {
	darkroom := &v1alpha1.Darkroom{}
	defer func() { err = redact.Error(darkroom, err) }() // errors are logged and may quote secrets
	err = r.client.Get(ctx, request.NamespacedName, darkroom)
	if apierrors.IsNotFound(err) {
		return reconcile.Result{}, r.forget(ctx, request.NamespacedName)
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	if darkroom.DeletionTimestamp != nil && !controllerutil.ContainsFinalizer(darkroom, finalizer) {
		// The uninstall is complete. Only finalizers of others remain.
		return reconcile.Result{}, nil
	}

	switch handled, err := r.installation.claim(ctx, darkroom); {
	case err != nil:
		return r.retryClaim(darkroom, err)
	case !handled:
		return reconcile.Result{}, r.forget(ctx, request.NamespacedName)
	}

	s := r.newSession(ctx, darkroom)
	err = r.reconcileRelease(ctx, s)
	giveUpErr := r.hosts.GiveUpUnused(ctx, request.NamespacedName)
	return r.conclude(ctx, s, err, giveUpErr)
}

// reconcileRelease runs the Helm reconciler, which calls the session in this order:
//
// - Get of the helmClient;
// - ActionClientFor, unless the Darkroom is paused;
// - Translate;
// - Get of the release, and, if there is one, Upgrade as a dry run;
// - Install if there is no release; Upgrade if the dry run returned another manifest; otherwise Reconcile.
//
// If the Darkroom is being deleted, the last three calls are replaced by Uninstall and Update, which removes the
// finalizer. The last call is the status update, which the session keeps for its report.
func (r *helmReconciler) reconcileRelease(ctx context.Context, s *session) error {
	inner, err := reconciler.New(append([]reconciler.Option{
		reconciler.WithClient(&helmClient{session: s}),
		reconciler.WithValueTranslator(s),
		reconciler.WithActionClientGetter(s),
	}, r.options...)...)
	if err != nil {
		return fmt.Errorf("create Helm reconciler: %w", err)
	}
	_, err = inner.Reconcile(ctx, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(s.darkroom)})
	return err
}

// retryClaim schedules the next attempt to claim a Darkroom for this installation, after an error.
func (r *helmReconciler) retryClaim(darkroom *v1alpha1.Darkroom, err error) (reconcile.Result, error) {
	out := outcomeOf(err)
	if out.refused {
		r.recorder.Event(darkroom, true, EventClaimRefused, err.Error())
	}
	return out.result(client.IgnoreNotFound(err))
}

// forget drops everything remembered about a Darkroom that is gone or is handled by another shard or installation.
func (r *helmReconciler) forget(ctx context.Context, darkroom types.NamespacedName) error {
	r.releases.Forget(darkroom)
	r.credentials.Forget(darkroom)
	if r.hosts.isSharded {
		return nil // the Darkroom may exist in another shard, which then still needs its hosts
	}
	return r.hosts.GiveUpUnused(ctx, darkroom)
}

// conclude reports the outcome of a reconcile and schedules the next one.
func (r *helmReconciler) conclude(ctx context.Context, s *session, err, giveUpErr error) (reconcile.Result, error) {
	if interrupted(ctx, err) {
		// Report nothing: the next operator starts over.
		return reconcile.Result{}, err
	}
	out := outcomeOf(err)
	if out.waits {
		return reconcile.Result{RequeueAfter: out.again}, giveUpErr
	}
	r.announce(s.darkroom, out, err)
	after := errors.Join(giveUpErr, s.report(ctx, err, out, r.clock.Now()))
	if after != nil {
		out = outcomeOf(after) // the retry also covers err
	}
	if joined := errors.Join(err, after); joined != nil {
		if out.refused {
			ctrl.LoggerFrom(ctx).Error(redact.Error(s.darkroom, joined), "The API server rejected a write")
		}
		return out.result(joined)
	}
	r.metrics.Reconciled(r.clock.Now())
	if s.uninstalled {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{RequeueAfter: r.nextReconcile(s)}, nil
}

// announce records the event of a failed reconcile. A foreign release is reported once per generation of the Darkroom.
func (r *helmReconciler) announce(darkroom *v1alpha1.Darkroom, out outcome, err error) {
	if out.event != "" && (!out.foreign || !wasRefused(darkroom)) {
		r.recorder.Event(darkroom, true, out.event, err.Error())
	}
}

// nextReconcile returns the time until a Darkroom is reconciled without a change. That is its resync period, or less if
// an object may be repaired again, another Darkroom still has to release a host, or a rollout is queued.
func (r *helmReconciler) nextReconcile(s *session) time.Duration {
	key, next := client.ObjectKeyFromObject(s.darkroom), wait.Jitter(reconcilePeriod(s.darkroom, r.period), jitter)
	for _, hold := range r.releases.Holds(key) {
		next = status.Sooner(next, max(hold.Until.Sub(r.clock.Now()), 0)+time.Millisecond)
	}
	isLeaving := func(refusal hosts.Refusal) bool { return refusal.Leaving }
	if s.release.Postponed || slices.ContainsFunc(s.refusals, isLeaving) {
		next = status.Sooner(next, wait.Jitter(checkPeriod, jitter))
	}
	return next
}

// wasRefused reports whether the status already reports the foreign release for the current generation.
func wasRefused(darkroom *v1alpha1.Darkroom) bool {
	deployed := v1alpha1.FindCondition(darkroom.Status.Conditions, v1alpha1.ConditionDeployed)
	return deployed != nil && deployed.Reason == v1alpha1.ReasonForeignRelease &&
		deployed.ObservedGeneration == darkroom.Generation
}

// reconcilePeriod returns the resync period of a Darkroom: a valid annotation overrides the operator's period.
func reconcilePeriod(darkroom *v1alpha1.Darkroom, period time.Duration) time.Duration {
	annotated, found := darkroom.Annotations[v1alpha1.AnnotationReconcilePeriod]
	if !found {
		return period
	}
	parsed, err := time.ParseDuration(annotated)
	if err != nil || parsed < time.Second {
		ctrl.Log.WithName("helm").Info("Ignoring invalid annotation: want a duration of at least 1s, such as 30s",
			"annotation", v1alpha1.AnnotationReconcilePeriod, "value", redact.Cut(annotated, 64, "…"),
			"namespace", darkroom.Namespace, "darkroom", darkroom.Name)
		return period
	}
	return parsed
}
