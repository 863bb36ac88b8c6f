package apiserver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/auth"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/oidc"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// Options are the settings of a Server.
type Options struct {
	// Cluster is the configuration of the Kubernetes client, with the server's own identity.
	Cluster *rest.Config
	// Auth is the method of authentication. Empty means auth.Token. With auth.Kubeconfig
	// the address must be a loopback address.
	Auth auth.Method
	// OIDC signs users in at an issuer. Nil means that users sign in with a token. It requires auth.Token.
	OIDC *oidc.Provider
	// BindAddress is the address that the server listens on. Empty means ":5000".
	BindAddress string
	// TLSCertFile and TLSKeyFile are PEM files, reloaded when they change. If both are empty, the server uses plain
	// HTTP, for example behind a proxy that terminates TLS.
	TLSCertFile, TLSKeyFile string
	// Namespaces are the namespaces that are served; none means all.
	Namespaces []string
	// LeaseNamespace is the namespace of the Leases of hosts. Without it, the holders of hosts are unknown.
	LeaseNamespace string
	// Preview renders the manifests of a Darkroom without a cluster. It should stop when the context is done.
	Preview func(context.Context, *v1alpha1.Darkroom) (string, error)
	// Page contains the files of the web page. Without index.html, or if it is nil, the page is not built.
	Page fs.FS
	// ClusterName is shown on the page, so that users can tell clusters apart.
	ClusterName string
	// BaseDomains (the default first) and DarkroomVersion are settings of the operator, for forms.
	BaseDomains     []string
	DarkroomVersion string
	// Hosts returns the hosts that a Darkroom claims; the default uses BaseDomains.
	Hosts func(*v1alpha1.Darkroom) []string

	// TokenTTL is the cache lifetime of TokenReviews; default 10 s.
	TokenTTL time.Duration
	// AccessTTL is the cache lifetime of SubjectAccessReviews; default 10 s.
	AccessTTL time.Duration
	// Heartbeat is the interval at which streams check the caller's token and permissions again; default 15 s.
	Heartbeat time.Duration
	// RequestsPerSecond and Burst limit each caller; defaults 20 and 60.
	RequestsPerSecond float64
	Burst             int
	// SignInBurst is the number of invalid tokens that one address may send before it is slowed down; the count
	// decreases by one per second; default 30.
	SignInBurst int
	// QuestionsPerSecond and QuestionBurst limit the requests to the cluster with the server's own identity for each
	// caller: access reviews that are not cached, and lists of pods and events; defaults 20 and 100.
	QuestionsPerSecond float64
	QuestionBurst      int
	// TrustedProxies are the CIDRs of proxies whose X-Forwarded-For header is trusted. By default the address of the
	// connection is used.
	TrustedProxies []string

	// Version is served at /version.
	Version string
	Log     logr.Logger
}

func (o *Options) setDefaults() {
	setDefault(&o.Auth, auth.Token)
	setDefault(&o.BindAddress, ":5000")
	setDefault(&o.TokenTTL, 10*time.Second)
	setDefault(&o.AccessTTL, 10*time.Second)
	setDefault(&o.Heartbeat, 15*time.Second)
	setDefault(&o.RequestsPerSecond, 20)
	setDefault(&o.Burst, 60)
	setDefault(&o.SignInBurst, 30)
	setDefault(&o.QuestionsPerSecond, 20)
	setDefault(&o.QuestionBurst, 100)
	setDefault(&o.Version, "unknown")
	if len(o.BaseDomains) == 0 {
		o.BaseDomains = []string{values.DefaultBaseDomain}
	}
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Validate returns an error for an invalid setting. It does not need Cluster and Preview.
func (o *Options) Validate() error {
	switch o.Auth {
	case auth.Token, "":
	case auth.Kubeconfig:
		if o.OIDC != nil {
			return fmt.Errorf("auth %s: OIDC requires auth %s", auth.Kubeconfig, auth.Token)
		}
		if !isLoopback(o.BindAddress) {
			return fmt.Errorf(
				"bind address %s: with auth %s it must be a loopback address, for example 127.0.0.1:5000, because all "+
					"requests use your identity", o.BindAddress, auth.Kubeconfig,
			)
		}
	default:
		return fmt.Errorf("auth %q: must be %s or %s", o.Auth, auth.Token, auth.Kubeconfig)
	}
	if (o.TLSCertFile == "") != (o.TLSKeyFile == "") {
		return errors.New("TLS needs both a certificate and a key")
	}
	return nil
}

// isLoopback reports whether an address, with a port, is a loopback address.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && oidc.IsLoopback(host)
}
