package apiserver

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// callersTimeout bounds a request that is made for a caller.
const callersTimeout = 30 * time.Second

// callers makes requests to Kubernetes in the name of those who call. All share one
// transport, which has no identity of its own: each request carries the token of the
// caller in its context, and without one it is not sent.
type callers struct {
	darkrooms rest.Interface
	core      rest.Interface
	http      *http.Client
	// parameters encodes options such as dryRun into the query.
	parameters runtime.ParameterCodec
}

// newCallers returns the requests of callers; owner has them act with the identity of
// the configuration instead, that of a kubeconfig.
func newCallers(cluster *rest.Config, owner bool) (*callers, error) {
	config := rest.AnonymousClientConfig(cluster)
	if owner {
		config = rest.CopyConfig(cluster)
	}
	// Callers are limited one by one; together they are not.
	config.QPS, config.RateLimiter = -1, nil
	config.Timeout = callersTimeout
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, fmt.Errorf("make transport: %w", err)
	}
	if !owner {
		server, _, err := rest.DefaultServerUrlFor(config)
		if err != nil {
			return nil, fmt.Errorf("read address of the cluster: %w", err)
		}
		transport = &callersTransport{next: transport, host: server.Host}
	}
	client := &http.Client{
		Transport: transport,
		Timeout:   callersTimeout,
		// A token must not follow wherever an answer points.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(v1alpha1.AddToScheme(scheme), corev1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	out := &callers{http: client, parameters: runtime.NewParameterCodec(scheme)}
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
		return nil, fmt.Errorf("make client of %s: %w", version, err)
	}
	return out, nil
}

// callersTransport puts the caller's token into each request.
type callersTransport struct {
	next http.RoundTripper
	host string
}

func (t *callersTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	who := callerOf(request.Context())
	if who == nil || who.token == "" {
		return nil, errors.New("request in nobody's name")
	}
	if request.URL.Host != t.host {
		return nil, fmt.Errorf("request to %s, which is not the cluster", request.URL.Host)
	}
	request = request.Clone(request.Context())
	request.Header.Set("Authorization", "Bearer "+who.token)
	return t.next.RoundTrip(request)
}
