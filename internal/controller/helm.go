// Package controller wires the controllers of the operator.
//
// The Helm controller (helm.go) drives the reconciler of helm-operator-plugins, which turns
// a Darkroom into a release. Its client (helmclient.go) reads Darkrooms from the typed cache
// and writes its part of the status by server-side apply.
//
// The status controller (package status) reports the observed state. A small one restores Leases of hosts (hosts.go).
//
// Package caches lists the watched kinds and how much of each is cached. cluster.go knows
// which of the kinds and APIs that a cluster may lack it serves.
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

// helmReconciler drives the reconciler of helm-operator-plugins: it opens a session for each
// reconcile, reports once at the end, and decides on retries.
type helmReconciler struct {
	client  client.Client
	patcher patcher
	options []reconciler.Option
	// values translates, with the state of the cluster: the hosts that others have, and the
	// version of the referenced Secret.
	values      *values.Translator
	hosts       *hostLeases
	credentials *credentials.Versions
	// installation is the installation of this operator.
	installation *installation
	releases     *release.Releases
	// maxRollouts is how many Darkrooms may replace their pods at once because of the operator; 0 means no limit.
	maxRollouts int
	recorder    release.Recorder
	metrics     *metrics.Metrics
	period      time.Duration
	clock       clock.PassiveClock
}

// helmOptions are the options of the reconciler of helm-operator-plugins, apart from the session.
func helmOptions(chrt *render.Chart, maxHistory int) []reconciler.Option {
	// Operations are logged with their events. Other messages are for debugging; the logger of
	// each reconcile costs allocations even if it discards them.
	logger := ctrl.Log.WithName("helm").V(1)
	if !logger.Enabled() {
		logger = logr.Discard()
	}
	return []reconciler.Option{
		reconciler.WithGroupVersionKind(v1alpha1.GroupVersionKind),
		// The chart has no default values here: the reconciler would merge them in each reconcile. Rendering merges them
		// when needed.
		reconciler.WithChart(chart.Chart{Metadata: chrt.Metadata}),
		//nolint:staticcheck // deprecated, and yet the reconciler panics without one
		reconciler.WithValueMapper(hopvalues.MapperFunc(func(v chartutil.Values) chartutil.Values { return v })),
		reconciler.WithMaxReleaseHistory(maxHistory),
		reconciler.WithPauseReconcileHandler(func(_ context.Context, darkroom *unstructured.Unstructured) (bool, error) {
			return v1alpha1.IsPaused(darkroom), nil
		}),
		reconciler.SkipPrimaryGVKSchemeRegistration(true),
		reconciler.WithLog(logger),
		// No wait: for the Helm reconciler a Darkroom is gone once its finalizer is
		// removed.
		reconciler.WithWaitForDeletionTimeout(time.Second),
	}
}

// untilStopped returns a reconciler that ends silently when the operator stops: queued requests are
// not started, and an interrupted reconcile is not an error. The next operator reconciles
// every Darkroom and recovers interrupted operations.
func untilStopped(inner reconcile.Reconciler) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		if ctx.Err() != nil {
			return reconcile.Result{}, nil
		}
		result, err := inner.Reconcile(ctx, request)
		if interrupted(ctx, err) {
			ctrl.LoggerFrom(ctx).V(1).Info("Interrupted because the operator stops", "cause", err.Error())
			return reconcile.Result{}, nil
		}
		return result, err
	})
}

// interrupted reports whether an error was caused by the stop of the operator.
func interrupted(ctx context.Context, err error) bool {
	return err != nil && ctx.Err() != nil && errors.Is(err, context.Canceled)
}

// Reconcile implements reconcile.Reconciler.
func (r *helmReconciler) Reconcile(ctx context.Context, request reconcile.Request) (_ reconcile.Result, err error) {
	darkroom := &v1alpha1.Darkroom{}
	defer func() { err = redact.Error(darkroom, err) }() // it is logged, and may quote what the API server refused
	err = r.client.Get(ctx, request.NamespacedName, darkroom)
	if apierrors.IsNotFound(err) {
		return reconcile.Result{}, r.forget(ctx, request.NamespacedName)
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	if darkroom.DeletionTimestamp != nil && !controllerutil.ContainsFinalizer(darkroom, finalizer) {
		// Only the finalizers of others are left.
		return reconcile.Result{}, nil
	}

	if handled, err := r.installation.claim(ctx, darkroom); err != nil || !handled {
		return r.leave(ctx, darkroom, err)
	}

	if err := r.hosts.Restored(ctx); err != nil {
		return reconcile.Result{}, err
	}
	s := &session{helm: r, darkroom: darkroom}
	err = r.reconcileRelease(ctx, s)
	giveUpErr := r.hosts.GiveUp(ctx, request.NamespacedName)
	return r.conclude(ctx, s, err, giveUpErr)
}

// reconcileRelease runs the Helm reconciler, which calls the session in this order: Get of the helmClient and, unless
// the Darkroom is paused, ActionClientFor; Translate; Get and Upgrade of the release, as a dry run; and Install,
// Upgrade or Reconcile. If the Darkroom is being deleted, it calls Uninstall instead, and Update, which removes the
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

// leave ends the reconcile of a Darkroom that this installation does not handle or could
// not claim.
func (r *helmReconciler) leave(ctx context.Context, darkroom *v1alpha1.Darkroom, err error) (reconcile.Result, error) {
	switch out := outcomeOf(err); {
	case err == nil:
		return reconcile.Result{}, r.forget(ctx, client.ObjectKeyFromObject(darkroom))
	case out.waits:
		return reconcile.Result{RequeueAfter: out.again}, nil
	case out.refused:
		r.recorder.Event(darkroom, true, EventClaimRefused, err.Error())
		return reconcile.Result{RequeueAfter: out.again}, nil
	}
	return reconcile.Result{}, client.IgnoreNotFound(err)
}

// forget drops all that is remembered of a Darkroom that this operator does not handle: it is
// gone, or handled by another shard or installation.
func (r *helmReconciler) forget(ctx context.Context, darkroom types.NamespacedName) error {
	r.releases.Forget(darkroom)
	r.credentials.Forget(darkroom)
	if r.hosts.isSharded {
		return nil // whether it is gone is for its own shard to say
	}
	return r.hosts.GiveUp(ctx, darkroom)
}

// conclude reports the outcome of a reconcile and decides when the next one is due.
func (r *helmReconciler) conclude(ctx context.Context, s *session, err, giveUpErr error) (reconcile.Result, error) {
	if interrupted(ctx, err) {
		// Nothing to report: the next operator starts over.
		return reconcile.Result{}, err
	}
	out := outcomeOf(err)
	if out.waits {
		return reconcile.Result{RequeueAfter: out.again}, giveUpErr
	}
	r.announce(s.darkroom, out, err)
	after := errors.Join(giveUpErr, s.report(ctx, err, r.clock.Now()))
	joined := errors.Join(err, after)
	if after != nil {
		out = outcomeOf(after) // what err asks for is tried again with it
	}
	switch {
	case joined == nil:
	case out.final:
		return reconcile.Result{}, reconcile.TerminalError(joined)
	case out.again > 0:
		if out.refused {
			ctrl.LoggerFrom(ctx).Error(redact.Error(s.darkroom, joined), "The API server refuses a write")
		}
		return reconcile.Result{RequeueAfter: out.again}, nil
	default:
		return reconcile.Result{}, joined
	}
	r.metrics.Reconciled(r.clock.Now())
	if s.uninstalled {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{RequeueAfter: r.nextReconcile(s)}, nil
}

// announce records the event of a failed reconcile: of a foreign release once for each generation of the Darkroom.
func (r *helmReconciler) announce(darkroom *v1alpha1.Darkroom, out outcome, err error) {
	if out.event != "" && (out.event != EventForeignRelease || !wasRefused(darkroom)) {
		r.recorder.Event(darkroom, true, out.event, err.Error())
	}
}

// nextReconcile is the time until a Darkroom is reconciled without a change: at the end of
// its resync period, or earlier if an object may be restored again, a route of another has to leave, or its Deployment
// waits.
func (r *helmReconciler) nextReconcile(s *session) time.Duration {
	key, next := client.ObjectKeyFromObject(s.darkroom), wait.Jitter(reconcilePeriod(s.darkroom, r.period), jitter)
	for _, hold := range r.releases.Holds(key) {
		next = status.Sooner(next, max(hold.Until.Sub(r.clock.Now()), 0)+time.Millisecond)
	}
	isLeaving := func(refusal hosts.Refusal) bool { return refusal.Leaving }
	if s.isPostponed() || slices.ContainsFunc(s.refusals, isLeaving) {
		next = status.Sooner(next, wait.Jitter(checkPeriod, jitter))
	}
	return next
}

// wasRefused reports whether the refusal of the current generation is already in the
// status.
func wasRefused(darkroom *v1alpha1.Darkroom) bool {
	deployed := v1alpha1.FindCondition(darkroom.Status.Conditions, v1alpha1.ConditionDeployed)
	return deployed != nil && deployed.Reason == v1alpha1.ReasonForeignRelease &&
		deployed.ObservedGeneration == darkroom.Generation
}

// reconcilePeriod returns the resync period of a Darkroom: the period of its annotation if it is
// valid, else the operator's.
func reconcilePeriod(darkroom *v1alpha1.Darkroom, period time.Duration) time.Duration {
	annotated, found := darkroom.Annotations[v1alpha1.AnnotationReconcilePeriod]
	if !found {
		return period
	}
	parsed, err := time.ParseDuration(annotated)
	if err != nil || parsed < time.Second {
		ctrl.Log.WithName("helm").Info("Ignoring annotation: it must be a duration of a second or more, such as 30s",
			"annotation", v1alpha1.AnnotationReconcilePeriod, "value", redact.Cut(annotated, 64, "…"),
			"namespace", darkroom.Namespace, "darkroom", darkroom.Name)
		return period
	}
	return parsed
}
