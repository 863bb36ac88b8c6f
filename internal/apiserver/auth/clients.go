package auth

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// requestTimeout limits the time of a request on behalf of a caller.
const requestTimeout = 30 * time.Second

// Clients sends requests to Kubernetes with the identity of the caller. All requests share one transport without an
// identity, which takes the token from the caller in the context and fails without a caller. Impersonated users share a
// second transport.
type Clients struct {
	Darkrooms rest.Interface
	Core      rest.Interface
	Apps      rest.Interface
	HTTP      *http.Client
	// Logs is like Core, but without a timeout, for streamed responses.
	Logs rest.Interface
	// Parameters encodes options such as dryRun into the query.
	Parameters runtime.ParameterCodec
}

// newClients returns clients. With Kubeconfig, all requests use the identity of the configuration.
func newClients(options *Options) (*Clients, error) {
	config := rest.AnonymousClientConfig(options.Cluster)
	if options.Method == Kubeconfig {
		config = rest.CopyConfig(options.Cluster)
	}
	// Limits apply per caller (package limit).
	config.QPS, config.RateLimiter = -1, nil
	config.Timeout = requestTimeout
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, fmt.Errorf("create transport: %w", err)
	}
	if options.Method != Kubeconfig {
		if transport, err = newTransport(options, config, transport); err != nil {
			return nil, err
		}
	}
	client := &http.Client{
		Transport: transport,
		Timeout:   requestTimeout,
		// A redirect must not receive the token.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(v1alpha1.AddToScheme(scheme), corev1.AddToScheme(scheme),
		appsv1.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	open := *client
	open.Timeout = 0
	out := &Clients{HTTP: client, Parameters: runtime.NewParameterCodec(scheme)}
	if out.Darkrooms, err = restClient(config, client, scheme, v1alpha1.GroupVersion, "/apis"); err != nil {
		return nil, err
	}
	if out.Core, err = restClient(config, client, scheme, corev1.SchemeGroupVersion, "/api"); err != nil {
		return nil, err
	}
	if out.Apps, err = restClient(config, client, scheme, appsv1.SchemeGroupVersion, "/apis"); err != nil {
		return nil, err
	}
	if out.Logs, err = restClient(config, &open, scheme, corev1.SchemeGroupVersion, "/api"); err != nil {
		return nil, err
	}
	return out, nil
}

func restClient(
	config *rest.Config, client *http.Client, scheme *runtime.Scheme, version schema.GroupVersion, path string,
) (rest.Interface, error) {
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
