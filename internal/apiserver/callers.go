package apiserver

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/rest"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// callersTimeout bounds a request that is made for a caller.
const callersTimeout = 30 * time.Second

// callers sends requests to Kubernetes with the identity of the caller. All share one
// transport without an identity: each request has the token of the caller in its context,
// and is not sent without one. Users who are impersonated share a second transport.
type callers struct {
	darkrooms rest.Interface
	core      rest.Interface
	http      *http.Client
	// streams is http for responses that stay open; their context ends them.
	streams *http.Client
	// parameters encodes options such as dryRun into the query.
	parameters runtime.ParameterCodec
}

// newCallers returns callers. With AuthKubeconfig all requests use the identity of the
// configuration.
func newCallers(options *Options) (*callers, error) {
	config := rest.AnonymousClientConfig(options.Cluster)
	if options.Auth == AuthKubeconfig {
		config = rest.CopyConfig(options.Cluster)
	}
	// Limits apply per caller, not to all callers together.
	config.QPS, config.RateLimiter = -1, nil
	config.Timeout = callersTimeout
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, fmt.Errorf("create transport: %w", err)
	}
	if options.Auth != AuthKubeconfig {
		if transport, err = newCallersTransport(options, config, transport); err != nil {
			return nil, err
		}
	}
	client := &http.Client{
		Transport: transport,
		Timeout:   callersTimeout,
		// A token must not be sent to the target of a redirect.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(v1alpha1.AddToScheme(scheme), corev1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	streams := *client
	streams.Timeout = 0
	out := &callers{http: client, streams: &streams, parameters: runtime.NewParameterCodec(scheme)}
	if out.darkrooms, err = restClient(config, client, scheme, v1alpha1.GroupVersion, "/apis"); err != nil {
		return nil, err
	}
	if out.core, err = restClient(config, client, scheme, corev1.SchemeGroupVersion, "/api"); err != nil {
		return nil, err
	}
	return out, nil
}

func restClient(config *rest.Config, client *http.Client, scheme *runtime.Scheme, version schema.GroupVersion, path string) (rest.Interface, error) {
	config = rest.CopyConfig(config)
	config.GroupVersion = &version
	config.APIPath = path
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	out, err := rest.RESTClientForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("create client of %s: %w", version, err)
	}
	return out, nil
}

// callersTransport adds the caller's identity to each request.
type callersTransport struct {
	host string
	// next sends requests with a token.
	next http.RoundTripper
	// own sends requests with the identity of this server, for users whom it impersonates;
	// nil without impersonation.
	own http.RoundTripper
}

func newCallersTransport(options *Options, config *rest.Config, next http.RoundTripper) (http.RoundTripper, error) {
	server, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("read address of the cluster: %w", err)
	}
	out := &callersTransport{host: server.Host, next: next}
	if options.OIDC != nil && options.OIDC.Impersonates() {
		if out.own, err = rest.TransportFor(options.Cluster); err != nil {
			return nil, fmt.Errorf("create transport of impersonation: %w", err)
		}
	}
	return out, nil
}

func (t *callersTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	who := callerOf(request.Context())
	if who == nil || who.token == "" && !who.impersonated() {
		return nil, errors.New("request without a caller")
	}
	if request.URL.Host != t.host {
		return nil, fmt.Errorf("request to %s, which is not the Kubernetes API server", request.URL.Host)
	}
	request = request.Clone(request.Context())
	if !who.impersonated() {
		request.Header.Set("Authorization", "Bearer "+who.token)
		return t.next.RoundTrip(request)
	}
	if t.own == nil {
		return nil, errors.New("request for an impersonated user without impersonation")
	}
	request.Header.Set(authenticationv1.ImpersonateUserHeader, who.user.GetName())
	request.Header.Del(authenticationv1.ImpersonateGroupHeader)
	for _, group := range who.user.GetGroups() {
		// Kubernetes adds this group, and requires a permission to impersonate it.
		if group != user.AllAuthenticated {
			request.Header.Add(authenticationv1.ImpersonateGroupHeader, group)
		}
	}
	return t.own.RoundTrip(request)
}
