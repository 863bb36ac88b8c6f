package apiserver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// Auth is a way to know who calls.
type Auth string

const (
	// AuthToken asks the cluster whose the bearer token of each request is.
	AuthToken Auth = "token"
	// AuthKubeconfig takes everyone for the owner of the kubeconfig. It is for one's
	// own machine, and refused at addresses that others can reach.
	AuthKubeconfig Auth = "kubeconfig"
)

// Options are the settings of a Server. Zero values mean the defaults named.
type Options struct {
	// Cluster is how to reach the Kubernetes API, with the server's own identity.
	Cluster *rest.Config
	// Auth is how callers are known. Empty means AuthToken.
	Auth Auth
	// BindAddress is where the server listens. Empty means ":5000".
	BindAddress string
	// TLSCertFile and TLSKeyFile are PEM files, read anew when they change. Both
	// empty means plain HTTP, for a proxy that ends TLS.
	TLSCertFile, TLSKeyFile string
	// Namespaces are those whose Darkrooms are served; none means all.
	Namespaces []string
	// AllowedOrigins are the origins, such as https://console.example.com, whose
	// pages may call the API besides its own.
	AllowedOrigins []string
	// Preview renders what would be installed for a Darkroom, without a cluster. It
	// should end with the context.
	Preview func(context.Context, *v1alpha1.Darkroom) (string, error)
	// Page has the files of the web page; nil, or without index.html: it is not built.
	Page fs.FS
	// BaseDomain and DarkroomVersion are what forms are told of the operator.
	BaseDomain, DarkroomVersion string

	// TokenTTL is for how long the answer about a token is believed; default 10 s.
	TokenTTL time.Duration
	// AccessTTL is for how long the answer about a right is believed; default 10 s.
	AccessTTL time.Duration
	// Heartbeat is the time between two signs of life in a stream, at each of which
	// the caller's token and rights are looked at again; default 15 s.
	Heartbeat time.Duration
	// Backlog is how many past events a stream can resume from; default 1024.
	Backlog int
	// RequestsPerSecond and Burst limit each caller; defaults 20 and 60.
	RequestsPerSecond float64
	Burst             int
	// SignInBurst is how many bad tokens one address may try before it is slowed down;
	// they are forgotten at one a second; default 30.
	SignInBurst int
	// QuestionsPerSecond and QuestionBurst limit what each caller costs the cluster
	// through the server's own identity, in requests: reviews of rights that are not
	// cached, lists of pods and events; defaults 20 and 100.
	QuestionsPerSecond float64
	QuestionBurst      int
	// TrustedProxies are the CIDRs of proxies whose X-Forwarded-For is believed; none
	// means that the address of the connection counts.
	TrustedProxies []string

	// Version is what /version says.
	Version string
	Log     logr.Logger
}

func (o *Options) setDefaults() {
	setDefault(&o.Auth, AuthToken)
	setDefault(&o.BindAddress, ":5000")
	setDefault(&o.TokenTTL, 10*time.Second)
	setDefault(&o.AccessTTL, 10*time.Second)
	setDefault(&o.Heartbeat, 15*time.Second)
	setDefault(&o.Backlog, 1024)
	setDefault(&o.RequestsPerSecond, 20)
	setDefault(&o.Burst, 60)
	setDefault(&o.SignInBurst, 30)
	setDefault(&o.QuestionsPerSecond, 20)
	setDefault(&o.QuestionBurst, 100)
	setDefault(&o.Version, "unknown")
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// validate tells which option is wrong, and how it should look.
func (o *Options) validate() error {
	if o.Cluster == nil || o.Preview == nil {
		return errors.New("cluster and preview are needed")
	}
	switch o.Auth {
	case AuthToken:
	case AuthKubeconfig:
		if !isLoopback(o.BindAddress) {
			return fmt.Errorf("bind address %s: with auth %s it must be of this machine alone, for example 127.0.0.1:5000: whoever reaches it acts as you", o.BindAddress, AuthKubeconfig)
		}
	default:
		return fmt.Errorf("auth %q: must be %s or %s", o.Auth, AuthToken, AuthKubeconfig)
	}
	if (o.TLSCertFile == "") != (o.TLSKeyFile == "") {
		return errors.New("TLS needs both a certificate and a key")
	}
	for _, origin := range o.AllowedOrigins {
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") || origin != u.Scheme+"://"+u.Host {
			return fmt.Errorf("allowed origin %q: must be scheme and host alone, for example https://console.example.com", origin)
		}
	}
	return nil
}

// isLoopback tells whether only this machine reaches an address. A name other than
// localhost is not looked up: what it means may change.
func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
