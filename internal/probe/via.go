package probe

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"k8s.io/client-go/rest"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// Via is the way of probes to the Services of Darkrooms.
type Via string

// The ways of probes.
const (
	// ViaService connects to the Service. The operator must run in the cluster.
	ViaService Via = "service"
	// ViaAPIServer uses the proxy of the Kubernetes API server, for an operator that
	// cannot reach Services. It needs the verb get on services/proxy and pods/proxy.
	ViaAPIServer Via = "apiserver"
	// ViaOff sends no probes.
	ViaOff Via = "off"
)

// Validate returns an error unless the way is known.
func (v Via) Validate() error {
	switch v {
	case ViaService, ViaAPIServer, ViaOff:
		return nil
	}
	return fmt.Errorf("must be %s, %s or %s", ViaService, ViaAPIServer, ViaOff)
}

// NewClientVia returns the client of a way that is not ViaOff. Config is used by ViaAPIServer
// only.
func NewClientVia(via Via, config *rest.Config) (*Client, error) {
	if via != ViaAPIServer {
		return NewClient(), nil
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, fmt.Errorf("create client of probes: %w", err)
	}
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("create client of probes: %w", err)
	}
	return &Client{http: newHTTPClient(transport), base: base}, nil
}

const (
	// portName is the name of the port, of Services and of pods, that serves images.
	portName = "http"
	// defaultPort is the number of that port in pods that do not name it.
	defaultPort = "3000"
)

// podAddress returns the address of a pod of a Darkroom.
func (c *Client) podAddress(namespace string, pod Pod) string {
	if c.base == nil {
		return "http://" + net.JoinHostPort(pod.IP, pod.Port)
	}
	return c.proxied(namespace, "pods", pod.Name, pod.Port)
}

// proxied returns the address of a Service or pod behind the proxy of the API server.
func (c *Client) proxied(namespace, resource, name, port string) string {
	address := url.URL{
		Scheme: c.base.Scheme, Host: c.base.Host,
		Path: fmt.Sprintf("%s/api/v1/namespaces/%s/%s/http:%s:%s/proxy", strings.TrimRight(c.base.Path, "/"), namespace, resource, name, port),
	}
	return address.String()
}

// fromAPIServer returns the outcome of an answer that the API server gave in place of
// the Darkroom. The content type tells them apart: Darkroom answers failures without a
// body, the API server with a Status object.
func fromAPIServer(target Target, status int) Outcome {
	finding := fmt.Sprintf("HTTP %d of the Kubernetes API server", status)
	if status == http.StatusUnauthorized || status == http.StatusForbidden {
		return target.failed(v1alpha1.ReasonProbeForbidden, finding)
	}
	return target.failed(v1alpha1.ReasonUnreachable, finding)
}
