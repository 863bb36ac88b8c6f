package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	runtimecontroller "sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/caches"
	"github.com/darkroom-operator/darkroom-operator/internal/credentials"
	"github.com/darkroom-operator/darkroom-operator/internal/hosts"
	"github.com/darkroom-operator/darkroom-operator/internal/metrics"
	"github.com/darkroom-operator/darkroom-operator/internal/probe"
	"github.com/darkroom-operator/darkroom-operator/internal/release"
	"github.com/darkroom-operator/darkroom-operator/internal/release/render"
	"github.com/darkroom-operator/darkroom-operator/internal/release/storage"
	"github.com/darkroom-operator/darkroom-operator/internal/status"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// workers returns the options that both controllers share.
func workers(options Options) runtimecontroller.Options {
	return runtimecontroller.Options{
		MaxConcurrentReconciles: options.MaxConcurrentReconciles,
		// A failing install costs a dozen requests. With the default back-off, which starts at 5 ms, a few hundred
		// broken Darkrooms would keep all workers busy.
		RateLimiter: backOff[reconcile.Request](),
	}
}

func backOff[request comparable]() workqueue.TypedRateLimiter[request] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[request](retryLeast, retryMost)
}

// Options are the settings of the controllers.
type Options struct {
	// Chart is the chart of the releases.
	Chart *render.Chart
	// Values are the operator's settings for every Darkroom.
	Values values.Options
	// Namespaces limits the caches to these namespaces; empty means all.
	Namespaces []string
	// Selector limits the operator to the Darkrooms of its shard; nil means all. CacheOptions must be given the same
	// selector.
	Selector labels.Selector
	// MaxConcurrentReconciles is the maximum number of concurrent reconciles per controller.
	MaxConcurrentReconciles int
	// MaxConcurrentRollouts is the maximum number of Darkrooms that replace their pods at once because of the operator;
	// 0 means no limit.
	MaxConcurrentRollouts int
	// ReconcilePeriod is the resync period; 0 disables the resync.
	ReconcilePeriod time.Duration
	// MaxHistory is the maximum number of revisions stored per release; 0 means no limit.
	MaxHistory int
	// Cluster is the discovered API of the cluster.
	Cluster *Cluster
	// DiscoveryPeriod is the interval of checks for optional kinds that the cluster does not serve yet; 0 means 20 s.
	DiscoveryPeriod time.Duration
	// Probe requests the image of a target from the Service of a Darkroom; nil disables probes.
	Probe func(context.Context, types.NamespacedName, probe.Target) probe.Outcome
	// Published describes the URLs that are reported in the status.
	Published status.Published
	// ProbeConcurrency is the maximum number of concurrent probes.
	ProbeConcurrency int
	// Version is the version of the operator.
	Version string
	// Installation is the name of the operator's installation; empty means DefaultInstallation. All shards have the
	// same name.
	Installation string
	// LeaseNamespace is the namespace of the Leases of hosts. All shards use the same namespace.
	LeaseNamespace string
	// Metrics is the registry for the operator's metrics; nil disables them.
	Metrics prometheus.Registerer
	// Darkrooms are the metrics of Darkrooms. Add sets the remaining fields. nil disables them.
	Darkrooms *metrics.Darkrooms
}

// NewScheme returns a scheme with all types that the controllers read.
func NewScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(gatewayv1.Install(scheme))
	utilruntime.Must(v1alpha1.AddToScheme(scheme))
	return scheme
}

// Add adds the controllers to a manager whose cache was created with CacheOptions.
func Add(ctx context.Context, mgr manager.Manager, options Options) error {
	parts, err := assemble(ctx, mgr, &options)
	if err != nil {
		return err
	}
	watches := &objectWatches{manager: mgr}
	if watches.helm, err = addHelm(mgr, parts, options); err != nil {
		return fmt.Errorf("add Helm controller: %w", err)
	}
	if watches.status, err = addStatus(mgr, parts, options); err != nil {
		return fmt.Errorf("add status controller: %w", err)
	}
	if err := addHosts(mgr, parts.helm.hosts, options); err != nil {
		return fmt.Errorf("add controller of hosts: %w", err)
	}
	for _, kind := range options.Cluster.kinds() {
		if err := watches.add(kind); err != nil {
			return err
		}
	}
	return addArrivals(mgr, parts.api, watches, options)
}

// components are the shared parts of the controllers.
type components struct {
	helm *helmReconciler
	// others is the cache of caches.OtherSecrets.
	others cache.Cache
	// api discovers what the cluster serves.
	api Discovery
}

// assemble creates the shared parts and sets the defaults of the options.
func assemble(ctx context.Context, mgr manager.Manager, options *Options) (*components, error) {
	if err := render.CheckChart(options.Chart); err != nil {
		return nil, err
	}
	options.Installation = cmp.Or(options.Installation, DefaultInstallation)
	options.DiscoveryPeriod = cmp.Or(options.DiscoveryPeriod, discoveryPeriod)
	pure, err := values.New(options.Values)
	if err != nil {
		return nil, err
	}
	clientset, err := kubernetes.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("create Kubernetes client: %w", err)
	}
	if err := caches.IndexOwners(ctx, mgr.GetCache(), options.Cluster.kinds()); err != nil {
		return nil, err
	}
	leases := newHosts(mgr, *options, pure)
	if err := leases.Index(ctx, mgr.GetCache()); err != nil {
		return nil, err
	}
	err = errors.Join(caches.IndexReleases(ctx, mgr.GetCache()), credentials.Index(ctx, mgr.GetCache()),
		indexRollouts(ctx, mgr.GetCache()))
	if err != nil {
		return nil, err
	}
	others, err := caches.OtherSecrets(ctx, mgr, options.Namespaces)
	if err != nil {
		return nil, err
	}
	counters := newMetrics(mgr, *options)
	recorder := &recorder{events: mgr.GetEventRecorder("darkroom-operator")}
	releases, err := newReleases(mgr, *options, others, clientset, recorder, counters)
	if err != nil {
		return nil, err
	}
	patcher := patcher{mgr.GetClient(), mgr.GetAPIReader()}
	versions := &credentials.Versions{
		Find:   caches.Secret(others, mgr.GetCache()),
		Cached: mgr.GetClient(), Uncached: mgr.GetAPIReader(),
	}
	return &components{
		helm: &helmReconciler{
			client:       mgr.GetClient(),
			patcher:      patcher,
			options:      helmOptions(options.Chart, options.MaxHistory),
			values:       pure,
			hosts:        leases,
			credentials:  versions,
			installation: &installation{patcher: patcher, name: options.Installation},
			releases:     releases,
			maxRollouts:  options.MaxConcurrentRollouts,
			recorder:     recorder,
			metrics:      counters,
			period:       options.ReconcilePeriod,
			clock:        clock.RealClock{},
		},
		others: others,
		api:    clientset.DiscoveryClient,
	}, nil
}

// newHosts returns the Leases of hosts, for the Darkrooms that this installation handles or may claim.
func newHosts(mgr manager.Manager, options Options, translator *values.Translator) *hostLeases {
	return &hostLeases{
		Claims: hosts.Claims{
			Client:    mgr.GetClient(),
			Uncached:  mgr.GetAPIReader(),
			Namespace: options.LeaseNamespace, Installation: options.Installation,
			Watched: options.Namespaces,
			HostsOf: translator.Hosts,
			Handles: func(darkroom *v1alpha1.Darkroom) bool {
				return v1alpha1.MayBeHandledBy(options.Installation, darkroom)
			},
			Routes: func() bool { return options.Cluster.serves(httpRoute) },
		},
		isSharded: options.Selector != nil && !options.Selector.Empty(),
	}
}

// newReleases returns the releases of all Darkrooms.
func newReleases(
	mgr manager.Manager, options Options, others cache.Cache, clientset *kubernetes.Clientset,
	recorder release.Recorder, counters *metrics.Metrics,
) (*release.Releases, error) {
	cluster := options.Cluster
	renderer, err := render.NewRenderer(options.Chart, cluster.Capabilities())
	if err != nil {
		return nil, err
	}
	return release.New(release.Config{
		Chart:      options.Chart,
		Client:     mgr.GetClient(),
		Uncached:   mgr.GetAPIReader(),
		Cached:     caches.Cached(mgr.GetClient(), cluster.kinds),
		Owned:      caches.Owned(mgr.GetClient(), cluster.kinds),
		Full:       limitRollouts(options.MaxConcurrentRollouts, mgr.GetCache()),
		Store:      storage.New(clientset.CoreV1(), clientset.AppsV1(), mgr.GetClient(), others, clock.RealClock{}),
		Renderer:   renderer,
		Kinds:      cluster.Managed,
		Recorder:   recorder,
		Metrics:    counters,
		Clock:      clock.RealClock{},
		MaxHistory: options.MaxHistory,
	}), nil
}

// newMetrics creates the operator's metrics and registers them if there is a registry. It also sets the fields of the
// metrics of Darkrooms, except for Probe.
func newMetrics(mgr manager.Manager, options Options) *metrics.Metrics {
	leads := func() bool {
		select {
		case <-mgr.Elected():
			return true
		default:
			return false
		}
	}
	if darkrooms := options.Darkrooms; darkrooms != nil {
		darkrooms.Cache, darkrooms.Leads = mgr.GetClient(), leads
		darkrooms.Installation, darkrooms.LeaseNamespace = options.Installation, options.LeaseNamespace
	}
	return metrics.New(options.Metrics, options.Version, options.Chart.Metadata.Version)
}

func addHelm(mgr manager.Manager, parts *components, options Options) (runtimecontroller.Controller, error) {
	reconciler := parts.helm
	controller := ctrl.NewControllerManagedBy(mgr).
		Named("darkroom-helm").
		WithOptions(workers(options)).
		For(&v1alpha1.Darkroom{}, builder.WithPredicates(
			predicate.Or(predicate.And(changedOutsideStatus(), notOwnClaim(reconciler.installation)), helmReportLost())))
	watchLeases(controller, reconciler.hosts, mgr.GetCache(), false)
	watchSecrets(controller, reconciler.credentials, parts.others, mgr.GetCache())
	controller.WatchesRawSource(wakeBy(othersDelay, func(wake func(...types.NamespacedName)) {
		reconciler.hosts.wake.Store(&wake)
	}))
	return controller.Build(untilStopped(reconciler))
}

func addStatus(mgr manager.Manager, parts *components, options Options) (runtimecontroller.Controller, error) {
	versions := parts.helm.credentials
	reconciler := &status.Reconciler{
		Client:     mgr.GetClient(),
		Handles:    parts.helm.installation.handles,
		Uncached:   mgr.GetAPIReader(),
		Refusals:   parts.helm.hosts.Refusals,
		FindSecret: versions.Find,
		Event:      parts.helm.recorder.Event,
		BaseDomain: parts.helm.values.BaseDomain,
		Hosts:      parts.helm.values.Hosts,
		Published:  options.Published,
		Routes:     parts.helm.hosts.Routes,
		Clock:      clock.RealClock{},
	}
	controller := ctrl.NewControllerManagedBy(mgr).
		Named("darkroom-status").
		WithOptions(workers(options)).
		For(&v1alpha1.Darkroom{}, builder.WithPredicates(
			predicate.Or(changedOutsideStatus(), helmReportChanged()), isClaimed(parts.helm.installation)))
	if len(options.Namespaces) == 0 {
		reconciler.HasClass = caches.HasClass(mgr.GetClient())
		watchClasses(controller, mgr.GetClient())
	}
	watchLeases(controller, parts.helm.hosts, mgr.GetCache(), true)
	watchSecrets(controller, versions, parts.others, mgr.GetCache())
	if options.Probe != nil {
		// The prober runs on the leader only. The status controller gives it its targets.
		prober := probe.New(probe.Options{Probe: options.Probe, Concurrency: options.ProbeConcurrency})
		if options.Darkrooms != nil {
			options.Darkrooms.Probe = prober.Last
		}
		if err := mgr.Add(prober); err != nil {
			return nil, fmt.Errorf("add prober: %w", err)
		}
		reconciler.Prober = prober
		controller.WatchesRawSource(wakeBy(0, func(wake func(...types.NamespacedName)) { prober.Changed = wake }))
	}
	return controller.Build(untilStopped(reconciler))
}
