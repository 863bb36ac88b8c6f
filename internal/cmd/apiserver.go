package cmd

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	charts "github.com/darkroom-operator/darkroom-operator/helm-charts"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/auth"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/oidc"
	"github.com/darkroom-operator/darkroom-operator/internal/release/render"
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
requests. With --oidc-config, users of the page can sign in at an OIDC issuer. With --auth=kubeconfig, on a local machine, all requests use the identity of the
kubeconfig.

With ` + envAPIServer + `=false in the environment, it responds to probes of its health only.`,
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
	flags.StringVar(&o.auth, "auth", string(auth.Token), "authentication of callers: token (bearer tokens of the cluster), or kubeconfig (all requests use the identity of the kubeconfig; only on a loopback address)")
	flags.StringVar(&o.oidcConfig, "oidc-config", "", "configuration of the sign-in at an OIDC issuer (YAML), see docs/sign-in.md; empty means by token only")
	flags.StringVar(&o.server.ClusterName, "cluster-name", "", "name of the cluster on the page, for example production")
	flags.StringVar(&o.server.TLSCertFile, "tls-cert-file", "", "TLS certificate (PEM), reloaded when it changes; empty means plain HTTP, for a proxy that terminates TLS")
	flags.StringVar(&o.server.TLSKeyFile, "tls-private-key-file", "", "private key of the TLS certificate (PEM)")
	flags.StringSliceVar(&o.server.Namespaces, "watch-namespaces", split(os.Getenv(envWatchNamespace)), "namespaces to serve, comma-separated; empty means all. The default is the value of "+envWatchNamespace)
	o.translation.addFlags(flags)
	flags.Float64Var(&o.server.RequestsPerSecond, "requests-per-second", 20, "average number of requests per second for each caller")
	flags.IntVar(&o.server.Burst, "burst", 60, "maximum burst of requests for each caller")
	flags.StringSliceVar(&o.server.TrustedProxies, "trusted-proxies", nil, "CIDR of proxies whose X-Forwarded-For header is trusted for counting failed sign-ins, for example 10.0.0.0/8; can be repeated")
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
	o.server.Version = version()
	o.server.Page = web.Page()
	o.server.Log = log.WithName("apiserver")
	if o.server.Cluster, err = clusterConfig(); err != nil {
		return err
	}
	rest.AddUserAgent(o.server.Cluster, "darkroom-operator-apiserver/"+version())
	served, err := servedVersions(o.server.Cluster)
	if err != nil {
		log.Error(err, "Failed to discover API versions; previews are those of a cluster that is not OpenShift")
	}
	if o.server.Preview, err = o.preview(served); err != nil {
		return err
	}
	server, err := apiserver.New(o.server) //nolint:contextcheck // each request has a context of its own
	if err != nil {
		return err
	}
	log.Info("Starting", "version", version(), "address", o.server.BindAddress, "auth", o.auth, "namespaces", o.server.Namespaces)
	if err := server.Run(ctx); err != nil {
		return err
	}
	log.Info("Stopped")
	return nil
}

// validate returns an error for an invalid flag. It does not access the cluster.
func (o *apiServerOptions) validate() (err error) {
	if err := checkNamespaces(o.server.Namespaces); err != nil {
		return err
	}
	if o.server.RequestsPerSecond <= 0 || o.server.Burst < 1 {
		return fmt.Errorf("--requests-per-second=%g --burst=%d: must be more than 0", o.server.RequestsPerSecond, o.server.Burst)
	}
	if err := o.translation.options.Validate(); err != nil {
		return err
	}
	o.server.Auth = auth.Method(o.auth)
	if o.server.OIDC, err = o.oidc(); err != nil {
		return err
	}
	return o.server.Validate()
}

// oidc returns the issuer of --oidc-config, or nil.
func (o *apiServerOptions) oidc() (*oidc.Provider, error) {
	if o.oidcConfig == "" {
		return nil, nil
	}
	config, err := oidc.Load(o.oidcConfig)
	if err != nil {
		return nil, err
	}
	return oidc.New(*config)
}

// discoveryTimeout bounds the request for the API versions of the cluster.
const discoveryTimeout = 10 * time.Second

// servedVersions returns the API versions that a cluster serves, such as route.openshift.io/v1:
// the chart renders other objects for OpenShift.
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

// preview returns the function that renders a Darkroom as the operator does in a cluster
// that serves some API versions.
func (o *apiServerOptions) preview(served []string) (func(context.Context, *v1alpha1.Darkroom) (string, error), error) {
	o.translation.resolve()
	translator, err := values.New(o.translation.options)
	if err != nil {
		return nil, err
	}
	chrt, err := charts.Darkroom()
	if err != nil {
		return nil, err
	}
	o.server.BaseDomain, o.server.DarkroomVersion = o.translation.options.BaseDomain, chrt.AppVersion()
	capabilities, err := capabilitiesOf(served)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, darkroom *v1alpha1.Darkroom) (string, error) {
		return manifestOf(ctx, translator, chrt, capabilities, darkroom)
	}, nil
}

// manifestOf returns the manifests of a Darkroom. It ends between two steps if the context
// does.
func manifestOf(ctx context.Context, translator *values.Translator, chrt *chart.Chart, capabilities *chartutil.Capabilities, darkroom *v1alpha1.Darkroom) (string, error) {
	vals, err := translator.Values(darkroom)
	if err != nil {
		return "", err
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	key := types.NamespacedName{Namespace: darkroom.Namespace, Name: darkroom.Name}
	rendered, err := render.Render(chrt, key, vals, capabilities)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(rendered.Manifest) + "\n", nil
}
