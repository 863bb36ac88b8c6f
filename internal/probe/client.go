package probe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	_ "image/gif"  // decodes images
	_ "image/jpeg" // decodes images
	_ "image/png"  // decodes images
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"runtime/debug"
	"strings"
	"syscall"
	"unicode"

	_ "golang.org/x/image/webp" // decodes images
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// Query is the query of every probe. The gate serves a request with this query without a signature.
const Query = "w=16"

const (
	// maxBody is the maximum number of bytes read of a response. An image with a width of 16 pixels has a few hundred
	// bytes.
	maxBody = 1 << 20
	// maxHeader is the maximum size of a response header in bytes.
	maxHeader = 16 << 10
)

// Client sends probes. It does not follow redirects and ignores proxy settings of the environment. It is safe for
// concurrent use.
type Client struct {
	http *http.Client
	// base is the URL of the Kubernetes API server if requests go through it, else nil.
	base *url.URL
}

// NewClient returns a client that connects to Services and pods.
func NewClient() *Client {
	return &Client{http: newHTTPClient(&http.Transport{
		DialContext: (&net.Dialer{}).DialContext,
		// Compression does not make images smaller; a compressed response would only hide its size.
		DisableCompression: true,
		// After a rollout, a kept connection would still lead to an old pod, or to a previous target of the Service's
		// address.
		DisableKeepAlives:      true,
		MaxResponseHeaderBytes: maxHeader,
		ReadBufferSize:         2 << 10,
		WriteBufferSize:        1 << 10,
	})}
}

func newHTTPClient(transport http.RoundTripper) *http.Client {
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// NewProxyClient returns a client that uses the proxy of the Kubernetes API server, for an operator that cannot reach
// Services and pods. It needs the permission to get services/proxy and pods/proxy.
func NewProxyClient(config *rest.Config) (*Client, error) {
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

// Probe requests the image of a target from an address such as http://10.0.0.7:3000. It respects the target's timeout.
func (c *Client) Probe(ctx context.Context, address string, target Target) (outcome Outcome) {
	defer func() {
		// The response comes from a tenant, and a panic in a decoder would crash the operator.
		if fault := recover(); fault != nil {
			ctrl.LoggerFrom(ctx).Error(fmt.Errorf("panic: %v", fault), "Failed to decode the response to a probe",
				"stack", string(debug.Stack()))
			outcome = target.failed(v1alpha1.ReasonNotAnImage, "the response cannot be decoded")
		}
	}()
	connected := false
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected = true },
	})
	ctx, cancel := context.WithTimeout(ctx, target.Timeout)
	defer cancel()
	request, err := newRequest(ctx, address, target.Path)
	if err != nil {
		return target.failed(v1alpha1.ReasonProbeInvalid, err.Error())
	}
	response, err := c.http.Do(request)
	if err != nil {
		return target.unanswered(err, connected)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxBody+1))
	if err != nil {
		return target.unanswered(err, true)
	}
	return c.outcomeOf(target, response.StatusCode, mediaType(response.Header.Get("Content-Type")), body)
}

// ProbeDarkroom probes the target's pod, or the Darkroom's Service at the target's address if the target has no pod.
func (c *Client) ProbeDarkroom(ctx context.Context, key types.NamespacedName, target Target) Outcome {
	switch {
	case target.Pod != (Pod{}):
		return c.Probe(ctx, c.podAddress(key.Namespace, target.Pod), target)
	case c.base != nil:
		return c.Probe(ctx, c.proxied(key.Namespace, "services", key.Name, portName), target)
	}
	return c.Probe(ctx, "http://"+target.Address, target)
}

// newRequest returns the request of a probe.
func newRequest(ctx context.Context, address, path string) (*http.Request, error) {
	if err := v1alpha1.ValidateProbePath(path); err != nil {
		return nil, fmt.Errorf("the path %w", err)
	}
	base, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("the address is invalid") // the error text could contain more than an address
	}
	target := url.URL{Scheme: base.Scheme, Host: base.Host, Path: base.Path + path, RawQuery: Query}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), http.NoBody)
	if err != nil {
		return nil, errors.New("the address is invalid")
	}
	request.Header.Set("Accept", "image/*")
	request.Header.Set("User-Agent", "darkroom-operator-probe")
	return request, nil
}

// outcomeOf returns the outcome of a complete response.
func (c *Client) outcomeOf(target Target, status int, contentType string, body []byte) Outcome {
	var outcome Outcome
	switch {
	case c.base != nil && contentType == "application/json":
		outcome = fromAPIServer(target, status)
	case status != http.StatusOK:
		outcome = target.failed(Classify(status), fmt.Sprintf("HTTP %d", status)+target.explanation(contentType, body))
	default:
		outcome = outcomeOfImage(target, contentType, body)
	}
	outcome.StatusCode = status
	return outcome
}

// explanation returns the detail of a problem reported by the gate, to be appended to the status. It is empty without a
// gate, because the body may come from the source.
func (t Target) explanation(contentType string, body []byte) string {
	const limit = 200
	var problem struct{ Detail string }
	if !t.Gate || contentType != "application/problem+json" || json.Unmarshal(body, &problem) != nil {
		return ""
	}
	isForbidden := func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsPrint(r) }
	if problem.Detail == "" || len(problem.Detail) > limit || strings.ContainsFunc(problem.Detail, isForbidden) {
		return ""
	}
	return ": " + problem.Detail
}

// outcomeOfImage returns the outcome of a response with status 200.
func outcomeOfImage(target Target, contentType string, body []byte) Outcome {
	finding := "HTTP 200 with content type " + contentType
	if !strings.HasPrefix(contentType, "image/") {
		return target.failed(v1alpha1.ReasonNotAnImage, finding)
	}
	if len(body) > maxBody {
		return target.failed(v1alpha1.ReasonNotAnImage, fmt.Sprintf("%s and more than %d bytes", finding, maxBody))
	}
	if _, _, err := image.DecodeConfig(bytes.NewReader(body)); err != nil {
		return target.failed(v1alpha1.ReasonNotAnImage, finding+", which cannot be decoded")
	}
	return Outcome{
		Reason:  v1alpha1.ReasonImageServed,
		Message: fmt.Sprintf("GET %s is served as %s.", shownPath(target.Path), contentType),
	}
}

// networkCause returns the cause of a failed connection, without addresses.
func networkCause(err error) string {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return "no route to the Service"
	}
	return "network error"
}

const (
	// portName is the name of the port of Services and pods that serves images.
	portName = "http"
	// defaultPort is the port of pods that do not name the port.
	defaultPort = "3000"
)

// podAddress returns the address of a pod of a Darkroom.
func (c *Client) podAddress(namespace string, pod Pod) string {
	if c.base == nil {
		return "http://" + net.JoinHostPort(pod.IP, pod.Port)
	}
	return c.proxied(namespace, "pods", pod.Name, pod.Port)
}

// proxied returns the URL of a Service or pod behind the proxy of the API server.
func (c *Client) proxied(namespace, resource, name, port string) string {
	address := url.URL{
		Scheme: c.base.Scheme, Host: c.base.Host,
		Path: fmt.Sprintf("%s/api/v1/namespaces/%s/%s/http:%s:%s/proxy", strings.TrimRight(c.base.Path, "/"),
			namespace, resource, name, port),
	}
	return address.String()
}

// fromAPIServer returns the outcome of a response that came from the API server instead of the Darkroom. The content
// type distinguishes the two: Darkroom's error responses have no body, and the API server's contain a Status object.
func fromAPIServer(target Target, status int) Outcome {
	finding := fmt.Sprintf("HTTP %d of the Kubernetes API server", status)
	if status == http.StatusUnauthorized || status == http.StatusForbidden {
		return target.failed(v1alpha1.ReasonProbeForbidden, finding)
	}
	return target.failed(v1alpha1.ReasonUnreachable, finding)
}
