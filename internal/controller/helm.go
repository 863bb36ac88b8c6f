package controller

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/operator-framework/helm-operator-plugins/pkg/reconciler"
	hopvalues "github.com/operator-framework/helm-operator-plugins/pkg/values"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/claims"
	"github.com/darkroom-operator/darkroom-operator/internal/metrics"
	"github.com/darkroom-operator/darkroom-operator/internal/release"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// deletionPatience is for how long a reconcile waits to see its Darkroom gone
// after the last finalizer was removed.
const deletionPatience = 10 * time.Second

// namespacePatience is the time between two looks at a Darkroom whose namespace is
// being deleted.
const namespacePatience = 5 * time.Second

// stalePatience is the time until a Darkroom is looked at again that was not what
// the cache had shown.
const stalePatience = 50 * time.Millisecond

// helmReconciler drives the reconciler of helm-operator-plugins: it opens the
// session for its client, reports once at the end, and decides on retries.
type helmReconciler struct {
	inner    reconcile.Reconciler
	client   *helmClient
	releases *release.Clients
	claims   *claims.Ledger
	// credentials are those that the Darkrooms reference.
	credentials *credentials
	recorder    release.Recorder
	metrics     *metrics.Metrics
	period      time.Duration
	clock       clock.PassiveClock
}

func newHelmReconciler(c client.Client, chrt *chart.Chart, translator *translator, releases *release.Clients, counters *metrics.Metrics, period time.Duration) (*helmReconciler, error) {
	view := &helmClient{Client: c}
	inner, err := reconciler.New(
		reconciler.WithGroupVersionKind(v1alpha1.GroupVersionKind),
		// Without default values, which it would lay under each Darkroom's again and
		// again: rendering does that where it is needed.
		reconciler.WithChart(chart.Chart{Metadata: chrt.Metadata}),
		reconciler.WithClient(view),
		reconciler.WithActionClientGetter(measured{releases, counters}),
		reconciler.WithValueTranslator(translator),
		//nolint:staticcheck // deprecated, and yet the reconciler calls it unasked: without one it panics
		reconciler.WithValueMapper(hopvalues.MapperFunc(func(v chartutil.Values) chartutil.Values { return v })),
		reconciler.WithMaxReleaseHistory(releases.MaxHistory),
		reconciler.WithWaitForDeletionTimeout(deletionPatience),
		reconciler.WithPauseReconcileHandler(isPaused),
		reconciler.SkipPrimaryGVKSchemeRegistration(true),
		// What happened is logged with its event; that nothing did is for debugging.
		reconciler.WithLog(ctrl.Log.WithName("helm").V(1)),
	)
	if err != nil {
		return nil, fmt.Errorf("make Helm reconciler: %w", err)
	}
	return &helmReconciler{
		inner:       inner,
		client:      view,
		releases:    releases,
		claims:      translator.claims,
		credentials: translator.credentials,
		recorder:    releases.Recorder,
		metrics:     counters,
		period:      period,
		clock:       clock.RealClock{},
	}, nil
}

// Reconcile implements reconcile.Reconciler.
func (r *helmReconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	ctx, session := withSession(ctx)
	_, err := r.inner.Reconcile(ctx, request)
	if settleErr := r.settleClaims(ctx, request.NamespacedName, session, err != nil); settleErr != nil {
		err = errors.Join(err, settleErr)
	}
	if session.darkroom == nil {
		r.releases.Forget(request.NamespacedName)
		return reconcile.Result{}, err
	}

	var invalid *values.InvalidError
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		// The namespace goes, and the Darkroom with it: there is nothing to make anew.
		return reconcile.Result{RequeueAfter: namespacePatience}, nil
	case brokenOff(ctx, err):
		// To be said to nobody: the next operator begins anew.
		return reconcile.Result{}, err
	case errors.Is(err, errStale):
		return reconcile.Result{RequeueAfter: stalePatience}, nil
	case errors.As(err, &invalid):
		r.recorder.Event(session.darkroom, true, EventRefused, values.Redact(session.darkroom, invalid.Error()))
		err = reconcile.TerminalError(err)
	case err != nil && !errors.Is(err, release.ErrBusy):
		r.recorder.Event(session.darkroom, true, release.EventFailed, values.Redact(session.darkroom, err.Error()))
	}
	if reportErr := r.client.report(ctx, session, err != nil, r.clock.Now()); reportErr != nil {
		err = errors.Join(err, reportErr)
	}
	if err != nil {
		return reconcile.Result{}, redactedError{err: err, message: values.Redact(session.darkroom, err.Error())}
	}
	r.metrics.Reconciled(r.clock.Now())
	if session.released {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{RequeueAfter: spread(reconcilePeriod(session.darkroom, r.period))}, nil
}

// redactedError keeps credentials out of the log of controller-runtime, and the
// error's nature for its decision on retries.
type redactedError struct {
	err     error
	message string
}

func (e redactedError) Error() string { return e.message }
func (e redactedError) Unwrap() error { return e.err }

// isPaused tells whether a Darkroom asks to be left alone.
func isPaused(_ context.Context, resource *unstructured.Unstructured) (bool, error) {
	return resource.GetAnnotations()[v1alpha1.AnnotationPaused] == "true", nil
}

// reconcilePeriod is the resync period of a Darkroom: its annotation's if that is
// a positive duration, else the operator's.
func reconcilePeriod(darkroom *v1alpha1.Darkroom, period time.Duration) time.Duration {
	wanted, found := darkroom.Annotations[v1alpha1.AnnotationReconcilePeriod]
	if !found {
		return period
	}
	parsed, err := time.ParseDuration(wanted)
	if err != nil || parsed < time.Second {
		ctrl.Log.WithName("helm").Info("Ignoring annotation: it must be a duration of a second or more, such as 30s",
			"annotation", v1alpha1.AnnotationReconcilePeriod, "value", wanted,
			"namespace", darkroom.Namespace, "darkroom", darkroom.Name)
		return period
	}
	return parsed
}

// spread adds up to a tenth to a period, so that Darkrooms that started together
// do not come back together.
func spread(period time.Duration) time.Duration {
	if period <= 0 {
		return 0
	}
	return period + rand.N(period/10+1) //nolint:gosec // spreads load, keeps no secret
}
