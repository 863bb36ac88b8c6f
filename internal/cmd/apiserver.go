package cmd

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/auth"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/oidc"
	"github.com/darkroom-operator/darkroom-operator/internal/listen"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
	"github.com/darkroom-operator/darkroom-operator/web"
)

// apiServerOptions are the flags of the API server.
type apiServerOptions struct {
	logging    logging
	server     apiserver.Options
	auth       string
	oidcConfig string

	translation translation
}

func newAPIServer() *cobra.Command {
	options := &apiServerOptions{}
	command := &cobra.Command{
		Use:   "apiserver",
		Short: "Serves a REST API and a web page for Darkrooms",
		Long: `Serves a REST API and a web page for Darkrooms. The API is documented in docs/rest-api.md
and at /openapi.json of the server, the page in docs/page.md.

Callers authenticate with a bearer token of the cluster, and Kubernetes authorizes their
requests. With --oidc-config, users of the page can sign in at an OIDC issuer. With
--auth=kubeconfig, on a local machine, all requests use the identity of the kubeconfig.

With ` + envAPIServer + `=false in the environment, it responds only to health probes.`,
		Example: `  darkroom-operator apiserver --auth=kubeconfig --bind-address=127.0.0.1:5000`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return options.run(cmd.Context())
		},
	}
	options.addFlags(command.Flags())
	return command
}

func (o *apiServerOptions) addFlags(flags *pflag.FlagSet) {
	o.logging.addFlags(flags)
	flags.StringVar(&o.server.BindAddress, "bind-address", ":5000", "address to listen on")
	flags.StringVar(&o.auth, "auth", string(auth.Token),
		"authentication of callers: token (bearer tokens of the cluster) or kubeconfig (all requests use the identity of "+
			"the kubeconfig; only on a loopback address)")
	flags.StringVar(&o.oidcConfig, "oidc-config", "",
		"configuration file (YAML) for signing in at an OIDC issuer, see docs/sign-in.md; empty means tokens only")
	flags.StringVar(&o.server.ClusterName, "cluster-name", "", "name of the cluster shown on the page, for example production")
	flags.StringVar(&o.server.TLSCertFile, "tls-cert-file", "",
		"TLS certificate (PEM), reloaded when it changes; empty means plain HTTP, for use behind a proxy that terminates TLS")
	flags.StringVar(&o.server.TLSKeyFile, "tls-private-key-file", "", "private key of the TLS certificate (PEM)")
	flags.StringSliceVar(&o.server.Namespaces, "watch-namespaces", split(os.Getenv(envWatchNamespace)),
		"namespaces to serve, comma-separated; empty means all. The default is the value of "+envWatchNamespace)
	flags.StringVar(&o.server.LeaseNamespace, "lease-namespace", "",
		"namespace of the manager's Leases of hosts (default: the server's namespace; outside of a cluster, the "+
			"holders of hosts are unknown)")
	o.translation.addFlags(flags)
	flags.Float64Var(&o.server.RequestsPerSecond, "requests-per-second", 20,
		"average number of requests per second per caller")
	flags.IntVar(&o.server.Burst, "burst", 60, "maximum burst of requests per caller")
	flags.StringSliceVar(&o.server.TrustedProxies, "trusted-proxies", nil,
		"CIDR of proxies whose X-Forwarded-For header is trusted for counting failed sign-ins, for example "+
			"10.0.0.0/8; can be repeated")
}

func (o *apiServerOptions) run(ctx context.Context) error {
	log, err := o.logging.setUp()
	if err != nil {
		return err
	}
	if enabled, err := apiServerEnabled(); err != nil {
		return err
	} else if !enabled {
		log.Info("Turned off", "environment", envAPIServer)
		return serveHealth(ctx, o.server.BindAddress)
	}
	if err := o.validate(); err != nil {
		return err
	}
	limitGarbage()
	o.server.LeaseNamespace = cmp.Or(o.server.LeaseNamespace, ownNamespace())
	o.server.Version = version()
	o.server.Page = web.Page()
	o.server.Log = log.WithName("apiserver")
	if o.server.Cluster, err = clusterConfig(); err != nil {
		return err
	}
	rest.AddUserAgent(o.server.Cluster, "darkroom-operator-apiserver/"+version())
	served, err := servedVersions(o.server.Cluster)
	if err != nil {
		log.Error(err, "Failed to discover API versions; previews assume that the cluster is not OpenShift")
	}
	preview, err := o.translation.preview(served)
	if err != nil {
		return err
	}
	o.server.Preview = preview.manifest
	o.server.Hosts = preview.translator.Hosts
	o.server.BaseDomains = o.translation.options.BaseDomains
	o.server.DarkroomVersion = preview.chart.AppVersion()
	server, err := apiserver.New(o.server) //nolint:contextcheck // each request has its own context
	if err != nil {
		return err
	}
	log.Info("Starting", "version", version(), "address", o.server.BindAddress, "auth", o.auth,
		"namespaces", o.server.Namespaces)
	if err := server.Run(ctx); err != nil {
		return err
	}
	log.Info("Stopped")
	return nil
}

// validate returns an error for an invalid flag. It does not access the cluster.
func (o *apiServerOptions) validate() error {
	if err := checkNamespaces(o.server.Namespaces); err != nil {
		return err
	}
	if o.server.RequestsPerSecond <= 0 || o.server.Burst < 1 {
		return fmt.Errorf("--requests-per-second=%g --burst=%d: must be more than 0",
			o.server.RequestsPerSecond, o.server.Burst)
	}
	if _, err := values.New(o.translation.options); err != nil {
		return err
	}
	o.server.Auth = auth.Method(o.auth)
	if o.oidcConfig != "" {
		config, err := oidc.Load(o.oidcConfig)
		if err != nil {
			return err
		}
		if o.server.OIDC, err = oidc.New(*config); err != nil {
			return err
		}
	}
	return o.server.Validate()
}

// discoveryTimeout limits the request for the API versions of the cluster.
const discoveryTimeout = 10 * time.Second

// servedVersions returns the API versions that a cluster serves, such as route.openshift.io/v1, because the chart renders
// different objects for OpenShift.
func servedVersions(cluster *rest.Config) ([]string, error) {
	cluster = rest.CopyConfig(cluster)
	cluster.Timeout = discoveryTimeout
	client, err := discovery.NewDiscoveryClientForConfig(cluster)
	if err != nil {
		return nil, fmt.Errorf("create discovery client: %w", err)
	}
	groups, err := client.ServerGroups()
	if err != nil {
		return nil, err
	}
	return metav1.ExtractGroupVersions(groups), nil
}

// apiServerEnabled reports whether the API server is enabled; an environment variable can disable it.
func apiServerEnabled() (bool, error) {
	value := os.Getenv(envAPIServer)
	if value == "" {
		return true, nil
	}
	enabled, err := strconv.ParseBool(value)
	if err != nil {
		return false, fmt.Errorf("%s=%s: must be true or false", envAPIServer, value)
	}
	return enabled, nil
}

// serveHealth responds only to health probes, until the context ends. OLM considers an operator installed only if the pods
// of all its Deployments are ready.
func serveHealth(ctx context.Context, address string) error {
	listener, err := listen.Small(ctx, address)
	if err != nil {
		return err
	}
	return (&manager.Server{Name: "health", Server: listen.SmallServer(healthOnly()), Listener: listener}).Start(ctx)
}

func healthOnly() http.Handler {
	mux := http.NewServeMux()
	for _, path := range []string{"GET /healthz", "GET /readyz"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	}
	return mux
}
