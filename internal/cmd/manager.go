package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/operator-framework/helm-operator-plugins/pkg/watches"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	crlog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	controllermetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/controller"
	"github.com/darkroom-operator/darkroom-operator/internal/metrics"
	"github.com/darkroom-operator/darkroom-operator/internal/probe"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// Client-side rate limits for requests to the API server. They are only a safety net, because the number of
// concurrent reconciles already limits the rate.
const (
	apiQPS   = 1000
	apiBurst = 2000
)

// probeConcurrency is the maximum number of concurrent probes. A thousand probes per minute need less than one at a
// time.
const probeConcurrency = 16

// Values of --probe-via.
const (
	viaService   = "service"
	viaAPIServer = "apiserver"
	viaOff       = "off"
)

// managerOptions are the flags of the manager.
type managerOptions struct {
	// controllers contains the flags that are passed on to the controllers.
	controllers controller.Options
	logging     logging
	translation translation
	election    election

	watchesFile string
	selector    string
	probeVia    string

	metricsAddress     string
	metricsSecure      bool
	metricsCertDir     string
	metricsPerDarkroom bool
	healthAddress      string
	pprofAddress       string
	gracefulTimeout    time.Duration
}

func newManager() *cobra.Command {
	options := &managerOptions{}
	command := &cobra.Command{
		Use:   "manager",
		Short: "Reconciles Darkroom resources",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return options.run(cmd.Context())
		},
	}
	options.addFlags(command.Flags())
	return command
}

func (o *managerOptions) addFlags(flags *pflag.FlagSet) {
	o.logging.addFlags(flags)
	flags.StringVar(&o.watchesFile, "watches-file", "watches.yaml",
		"path to the watches file, which maps the kind Darkroom to its chart")
	flags.StringSliceVar(&o.controllers.Namespaces, "watch-namespaces", split(os.Getenv(envWatchNamespace)),
		"namespaces to watch, comma-separated; empty means all. The default is the value of "+envWatchNamespace)
	flags.StringVar(&o.selector, "selector", "",
		"label selector of the Darkrooms to reconcile, for sharding; empty means all")
	flags.StringVar(&o.controllers.Installation, "installation", defaultInstallation(),
		"name of this installation, shared by its shards; each Darkroom is reconciled by one installation (default: the "+
			"operator's namespace, or local outside of a cluster)")
	o.translation.addFlags(flags)
	flags.IntVar(&o.controllers.MaxConcurrentReconciles, "max-concurrent-reconciles", 4,
		"maximum number of concurrent reconciles")
	flags.IntVar(&o.controllers.MaxConcurrentRollouts, "max-concurrent-rollouts", 10,
		"maximum number of Darkrooms that replace their pods at once because of a new version or setting of the "+
			"operator; 0 means no limit. Changes by users are never postponed")
	flags.DurationVar(&o.controllers.ReconcilePeriod, "reconcile-period", 10*time.Minute,
		"resync period; 0 disables the resync")
	flags.IntVar(&o.controllers.MaxHistory, "max-history", 5,
		"maximum number of revisions stored for each Helm release; 0 means no limit")
	flags.StringVar(&o.controllers.Published.Scheme, "url-scheme", "",
		"scheme of the URLs in the status, http or https; empty means https for hosts with a certificate. Set it for load "+
			"balancers that terminate TLS")
	flags.IntVar(&o.controllers.Published.Port, "url-port", 0,
		"port of the URLs in the status; 0 means the default port of the scheme")
	flags.StringVar(&o.probeVia, "probe-via", viaService,
		"how probes are sent: to the Service and pods of a Darkroom (service), through the proxy of the Kubernetes API "+
			"server (apiserver; requires get on services/proxy and pods/proxy), or not at all (off)")
	o.election.addFlags(flags)
	flags.StringVar(&o.metricsAddress, "metrics-bind-address", ":8443", "address of the metrics endpoint; 0 disables it")
	flags.BoolVar(&o.metricsSecure, "metrics-secure", true,
		"serve metrics over TLS, with authentication and authorization by Kubernetes")
	flags.StringVar(&o.metricsCertDir, "metrics-cert-dir", "",
		"directory with tls.crt and tls.key for the metrics endpoint; empty means a self-signed certificate")
	flags.BoolVar(&o.metricsPerDarkroom, "metrics-per-darkroom", true,
		"report metrics of each Darkroom in addition to totals")
	flags.StringVar(&o.healthAddress, "health-probe-bind-address", ":8081",
		"address of /healthz and /readyz; 0 disables them")
	flags.StringVar(&o.pprofAddress, "pprof-bind-address", "0",
		"address of the pprof endpoint, such as 127.0.0.1:6060; 0 disables it")
	flags.DurationVar(&o.gracefulTimeout, "graceful-shutdown-timeout", 25*time.Second,
		"maximum time for active reconciles to finish after a termination signal")
}

func (o *managerOptions) run(ctx context.Context) error {
	log, err := o.logging.setUp()
	if err != nil {
		return err
	}
	if leftOut := o.translation.resolve(os.Getenv); len(leftOut) > 0 {
		log.Info("Not passing on proxy URLs that contain credentials; set them in the Darkrooms' extraEnvFrom",
			"variables", leftOut)
	}
	if err := o.validate(); err != nil {
		return err
	}
	watch, err := loadWatch(o.watchesFile)
	if err != nil {
		return err
	}
	if o.controllers.Selector, err = labels.Parse(o.selector); err != nil {
		return fmt.Errorf("--selector=%s: must be a label selector such as shard=a: %w", o.selector, err)
	}
	o.controllers.Chart, o.controllers.Values = watch.Chart, o.translation.options
	o.controllers.Metrics = controllermetrics.Registry
	o.controllers.Darkrooms = &metrics.Darkrooms{TotalsOnly: !o.metricsPerDarkroom}
	o.controllers.ProbeConcurrency, o.controllers.Version = probeConcurrency, version()
	limitGarbage()
	kubeconfig, err := clusterConfig()
	if err != nil {
		return err
	}
	kubeconfig.QPS, kubeconfig.Burst = apiQPS, apiBurst
	kubeconfig.WarningHandlerWithContext = crlog.NewKubeAPIWarningLogger(
		crlog.KubeAPIWarningLoggerOptions{Deduplicate: true},
	)
	rest.AddUserAgent(kubeconfig, "darkroom-operator/"+version())

	switch o.probeVia {
	case viaService:
		o.controllers.Probe = probe.NewClient().ProbeDarkroom
	case viaAPIServer:
		client, err := probe.NewProxyClient(kubeconfig)
		if err != nil {
			return err
		}
		o.controllers.Probe = client.ProbeDarkroom
	}

	mgr, err := o.newManager(ctx, kubeconfig)
	if err != nil {
		return err
	}
	if err := controller.Add(ctx, mgr, o.controllers); err != nil {
		return err
	}
	log.Info("Starting", "version", version(), "chart", watch.Chart.Metadata.Version,
		"baseDomains", o.translation.options.BaseDomains, "namespaces", o.controllers.Namespaces, "selector",
		o.controllers.Selector.String())
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("run manager: %w", err)
	}
	log.Info("Stopped")
	return nil
}

// validate returns an error for an invalid flag. It does not access the cluster.
func (o *managerOptions) validate() error {
	if err := checkNamespaces(o.controllers.Namespaces); err != nil {
		return err
	}
	switch {
	case len(validation.IsValidLabelValue(o.controllers.Installation)) > 0 || o.controllers.Installation == "":
		return fmt.Errorf(
			"--installation=%q: must consist of at most 63 letters, digits, '-', '_' and '.', such as darkroom-system",
			o.controllers.Installation,
		)
	case o.controllers.MaxConcurrentReconciles < 1:
		return fmt.Errorf("--max-concurrent-reconciles=%d: must be at least 1", o.controllers.MaxConcurrentReconciles)
	case o.controllers.MaxConcurrentRollouts < 0:
		return fmt.Errorf("--max-concurrent-rollouts=%d: must not be negative; 0 means no limit",
			o.controllers.MaxConcurrentRollouts)
	case o.controllers.ReconcilePeriod < 0:
		return fmt.Errorf("--reconcile-period=%s: must not be negative; 0 disables the resync", o.controllers.ReconcilePeriod)
	case o.controllers.MaxHistory < 0:
		return fmt.Errorf("--max-history=%d: must not be negative; 0 keeps all", o.controllers.MaxHistory)
	case !slices.Contains([]string{viaService, viaAPIServer, viaOff}, o.probeVia):
		return fmt.Errorf("--probe-via=%s: must be %s, %s or %s", o.probeVia, viaService, viaAPIServer, viaOff)
	}
	if err := o.election.validate(); err != nil {
		return err
	}
	if err := o.controllers.Published.Validate(); err != nil {
		return fmt.Errorf("--url-scheme and --url-port: %w", err)
	}
	_, err := values.New(o.translation.options)
	return err
}

// loadWatch reads the only entry of the watches file.
func loadWatch(path string) (watches.Watch, error) {
	entries, err := watches.Load(path)
	if errors.Is(err, fs.ErrNotExist) {
		return watches.Watch{}, fmt.Errorf(
			"--watches-file=%s: %w: use the file shipped with the operator, and run in the directory of its chart",
			path, err,
		)
	}
	if err != nil {
		return watches.Watch{}, fmt.Errorf("read %s: %w", path, err)
	}
	if len(entries) != 1 || entries[0].GroupVersionKind != v1alpha1.GroupVersionKind {
		return watches.Watch{}, fmt.Errorf("read %s: must have exactly one entry, for %s", path, v1alpha1.GroupVersionKind)
	}
	watch := entries[0]
	if len(watch.OverrideValues) > 0 || watch.ReconcilePeriod != nil || watch.MaxConcurrentReconciles != nil ||
		len(watch.Selector.MatchLabels)+len(watch.Selector.MatchExpressions) > 0 {
		return watches.Watch{}, fmt.Errorf(
			"read %s: overrideValues, selector, reconcilePeriod and maxConcurrentReconciles are not supported: "+
				"use the manager's flags", path,
		)
	}
	return watch, nil
}

// newManager discovers the cluster and returns a manager for it.
func (o *managerOptions) newManager(ctx context.Context, kubeconfig *rest.Config) (manager.Manager, error) {
	controller.BoundRequests(kubeconfig)
	httpClient, err := rest.HTTPClientFor(kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("create HTTP client: %w", err)
	}
	api, err := discovery.NewDiscoveryClientForConfigAndClient(kubeconfig, httpClient)
	if err != nil {
		return nil, fmt.Errorf("create discovery client: %w", err)
	}
	o.controllers.LeaseNamespace = cmp.Or(o.election.namespace, ownNamespace(), contextNamespace())
	id := leaderElectionID(o.controllers.Installation, o.controllers.Selector, o.controllers.Namespaces)
	if o.controllers.Cluster, err = controller.Discover(ctx, api); err != nil {
		return nil, err
	}
	if err := controller.CheckDefinition(ctx, api.RESTClient()); err != nil {
		return nil, err
	}
	caches, err := controller.CacheOptions(o.controllers.Namespaces, o.controllers.Selector, o.controllers.LeaseNamespace)
	if err != nil {
		return nil, fmt.Errorf("configure the caches: %w", err)
	}
	mgr, err := ctrl.NewManager(kubeconfig, manager.Options{
		Scheme:                        controller.NewScheme(),
		Cache:                         caches,
		Logger:                        ctrl.Log,
		LeaderElection:                o.election.enabled,
		LeaderElectionID:              id,
		LeaderElectionNamespace:       o.controllers.LeaseNamespace,
		LeaseDuration:                 &o.election.leaseDuration,
		RenewDeadline:                 &o.election.renewDeadline,
		RetryPeriod:                   &o.election.retryPeriod,
		LeaderElectionReleaseOnCancel: true,
		Metrics:                       metricsserver.Options{BindAddress: "0"},
		GracefulShutdownTimeout:       &o.gracefulTimeout,
	})
	if err != nil {
		return nil, fmt.Errorf("create manager: %w", err)
	}
	return mgr, o.addListeners(ctx, mgr, o.controllers.Darkrooms)
}

// cachesSynced returns an error until the caches are synchronized. A standby manager is also ready, because it can take
// over at any time.
func cachesSynced(mgr manager.Manager) healthz.Checker {
	return func(request *http.Request) error {
		ctx, cancel := context.WithTimeout(request.Context(), time.Second)
		defer cancel()
		if !mgr.GetCache().WaitForCacheSync(ctx) {
			return errors.New("the caches are not synchronized yet")
		}
		return nil
	}
}
