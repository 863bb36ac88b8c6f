package explain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/client-go/rest"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/imageproxy"
	"github.com/darkroom-operator/darkroom-operator/internal/signing"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

const (
	// maxObject and maxImage limit the bytes read of an object and of an image, and maxProblem the bytes kept of an
	// error response.
	maxObject, maxImage, maxProblem = 1 << 20, 32 << 20, 8 << 10
	// readTimeout limits the time for reading objects, and imageTimeout the time for requesting the image.
	readTimeout, imageTimeout = 5 * time.Second, 20 * time.Second
	// maxDetail limits the length of a quoted message of a gate.
	maxDetail = 300
)

// Cluster sends requests to the Kubernetes API with the identity of a caller.
type Cluster struct {
	// API sends requests for objects, and HTTP for images.
	API  rest.Interface
	HTTP *http.Client
}

// Collect adds the objects of the Darkroom that the caller may read, and the response to a request for the image.
func (c Cluster) Collect(ctx context.Context, e *Evidence) {
	subject := e.Subject()
	if subject == nil {
		return
	}
	reads, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	in := func(group, resource string) string {
		return fmt.Sprintf("/apis/%s/namespaces/%s/%s", group, subject.Namespace, resource)
	}
	slices := &discoveryv1.EndpointSliceList{}
	e.Endpoints.Access = c.read(reads, in("discovery.k8s.io/v1", "endpointslices"),
		url.Values{"labelSelector": {discoveryv1.LabelServiceName + "=" + subject.Name}}, slices)
	var pod string
	e.Endpoints.Object, pod = count(slices)
	if pod != "" && !v1alpha1.IsConditionTrueNow(subject, v1alpha1.ConditionReady) {
		e.Variables = c.variables(reads, subject.Namespace, pod)
	}
	var group sync.WaitGroup
	group.Go(func() {
		e.Ingress.Access = c.read(reads, in("networking.k8s.io/v1", "ingresses/"+subject.Name), nil, &e.Ingress.Object)
	})
	group.Go(func() {
		e.HTTPRoute.Access = c.read(reads, in("gateway.networking.k8s.io/v1", "httproutes/"+subject.Name),
			nil, &e.HTTPRoute.Object)
	})
	group.Go(func() {
		e.Answer = c.ask(ctx, e, e.asServed(subject))
	})
	group.Wait()
}

// read reads an object.
func (c Cluster) read(ctx context.Context, path string, query url.Values, into any) Access {
	request := c.API.Get().AbsPath(path).MaxRetries(0)
	for name := range query {
		request = request.Param(name, query.Get(name))
	}
	body, err := request.Stream(ctx)
	switch {
	case apierrors.IsNotFound(err):
		return Missing
	case err != nil:
		return Unread
	}
	defer body.Close()
	if err := json.NewDecoder(io.LimitReader(body, maxObject)).Decode(into); err != nil {
		return Unread
	}
	return Found
}

// count counts the endpoints of a Service, and returns a ready pod.
func count(slices *discoveryv1.EndpointSliceList) (out Endpoints, pod string) {
	for i := range slices.Items {
		for _, endpoint := range slices.Items[i].Endpoints {
			out.All++
			if ready := endpoint.Conditions.Ready; ready == nil || *ready {
				out.Ready++
				if endpoint.TargetRef != nil && endpoint.TargetRef.Kind == "Pod" {
					pod = endpoint.TargetRef.Name
				}
			}
		}
	}
	return out, pod
}

// variables reads the ConfigMap from which a pod of a Darkroom gets its variables.
func (c Cluster) variables(ctx context.Context, namespace, name string) Read[map[string]string] {
	out := Read[map[string]string]{}
	get := func(resource, name string, into any) Access {
		if len(content.IsPathSegmentName(name)) > 0 {
			return Missing
		}
		return c.read(ctx, fmt.Sprintf("/api/v1/namespaces/%s/%s/%s", namespace, resource, name), nil, into)
	}
	pod := &corev1.Pod{}
	if out.Access = get("pods", name, pod); out.Access != Found {
		return out
	}
	out.Access = Missing
	for _, container := range pod.Spec.Containers {
		for _, from := range container.EnvFrom {
			if from.ConfigMapRef != nil && out.Access != Found {
				config := &corev1.ConfigMap{}
				out.Access, out.Object = get("configmaps", from.ConfigMapRef.Name, config), config.Data
			}
		}
	}
	return out
}

// ask requests the image from the Service of a Darkroom, unless the request would certainly be rejected.
func (c Cluster) ask(ctx context.Context, e *Evidence, subject *v1alpha1.Darkroom) Answer {
	ctx, cancel := context.WithTimeout(ctx, imageTimeout)
	defer cancel()
	if detail, _, _ := e.outside(&subject.Spec); detail != "" {
		return Answer{Failure: NotSent}
	}
	query := e.URL.Query.Encode()
	if imageproxy.NeedsSignature(&subject.Spec, e.URL.Path, query) {
		keys := c.keys(ctx, subject)
		verifying := keys
		if subject.Spec.Gate.Signing.Scheme == v1alpha1.SigningImgix {
			verifying = "" // It may be an imgix signature.
		}
		e.Signature = e.URL.signature(verifying, time.Now())
		key, err := signing.FirstKey(keys)
		if err != nil {
			return Answer{Failure: NoKeys}
		}
		if detail, _ := unsigned(e.Signature); detail != "" {
			return Answer{Failure: NotSent}
		}
		query = signing.Sign(key, url.URL{Path: e.URL.Path, RawQuery: query},
			time.Now().Add(imageproxy.SignatureTTL)).RawQuery
	}
	request, err := imageproxy.NewRequest(ctx, c.API, subject, e.URL.Path, query, "image/avif,image/webp,image/*")
	if err != nil {
		return Answer{Failure: NotSent}
	}
	return c.send(request)
}

// keys returns the signing keys of a Darkroom; empty if the caller may not read them.
func (c Cluster) keys(ctx context.Context, subject *v1alpha1.Darkroom) string {
	name, key := values.SigningSecret(subject.Spec.Gate)
	secret := &corev1.Secret{}
	if c.read(ctx, fmt.Sprintf("/api/v1/namespaces/%s/secrets/%s", subject.Namespace, name), nil, secret) != Found {
		return ""
	}
	return string(secret.Data[key])
}

// send requests the image and reads the response.
func (c Cluster) send(request *http.Request) Answer {
	start := time.Now()
	//nolint:gosec // G704: the host is the Kubernetes API; see imageproxy.IsPlain for the path
	response, err := c.HTTP.Do(request)
	if err != nil {
		return Answer{Failure: failureOf(err)}
	}
	defer response.Body.Close()
	beginning, err := io.ReadAll(io.LimitReader(response.Body, maxProblem))
	rest := int64(0)
	if err == nil {
		rest, err = io.Copy(io.Discard, io.LimitReader(response.Body, maxImage))
	}
	if err != nil {
		return Answer{Failure: failureOf(err)}
	}
	if refusal := imageproxy.Refusal(response.StatusCode, beginning); refusal != nil {
		return Answer{Failure: ofKubernetes(refusal)}
	}
	out := Answer{Status: response.StatusCode, Bytes: int64(len(beginning)) + rest, Took: time.Since(start)}
	out.ContentType, _, _ = mime.ParseMediaType(response.Header.Get("Content-Type"))
	out.Cache, out.Parts = serverTiming(response.Header.Get("Server-Timing"))
	if out.ContentType == "application/problem+json" {
		problem := struct{ Detail string }{}
		_ = json.Unmarshal(beginning, &problem)
		out.Detail = strings.ToValidUTF8(problem.Detail[:min(len(problem.Detail), maxDetail)], "")
	}
	return out
}

func failureOf(err error) Failure {
	if timeout := interface{ Timeout() bool }(nil); errors.As(err, &timeout) && timeout.Timeout() {
		return TimedOut
	}
	return Unreachable
}

// ofKubernetes returns the reason why the Kubernetes API did not reach the Darkroom.
func ofKubernetes(refusal *apierrors.StatusError) Failure {
	switch {
	case apierrors.IsForbidden(refusal):
		return NoRight
	case apierrors.IsUnauthorized(refusal), apierrors.IsTooManyRequests(refusal):
		return NotSent
	}
	return Unreachable
}

// serverTiming parses the Server-Timing header of a gate, such as cache;desc=miss, fetch;dur=12.1.
func serverTiming(header string) (cache string, parts map[string]float64) {
	if header == "" {
		return "", nil
	}
	parts = map[string]float64{}
	for entry := range strings.SplitSeq(header, ",") {
		name, attribute, _ := strings.Cut(strings.TrimSpace(entry), ";")
		key, value, _ := strings.Cut(attribute, "=")
		switch {
		case name == "cache" && key == "desc":
			cache = value
		case key == "dur":
			if milliseconds, err := strconv.ParseFloat(value, 64); err == nil && milliseconds >= 0 && milliseconds < 1e9 {
				parts[name] = milliseconds
			}
		}
	}
	return cache, parts
}
