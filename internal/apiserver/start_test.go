package apiserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2/ktesting"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	charts "github.com/darkroom-operator/darkroom-operator/helm-charts"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/release/render" //nolint:depguard // the test renders as the command does
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// server is a server under test.
type server struct {
	t    *testing.T
	url  string
	log  fmt.Stringer
	stop func()
	// transport carries requests to the server; nil means TCP.
	transport http.RoundTripper
}

// preview renders as the command does.
func preview(t *testing.T) func(context.Context, *v1alpha1.Darkroom) (string, error) {
	t.Helper()
	chrt, err := charts.Darkroom()
	expect.NoError(t, err)
	translator, err := values.New(values.Options{})
	expect.NoError(t, err)
	return func(_ context.Context, darkroom *v1alpha1.Darkroom) (string, error) {
		vals, err := translator.Values(darkroom)
		if err != nil {
			return "", err
		}
		rendered, err := render.Render(chrt, client.ObjectKeyFromObject(darkroom), vals,
			render.Capabilities{Version: "v1.36.0"})
		if err != nil {
			return "", err
		}
		return rendered.Manifest, nil
	}
}

const testVersion = "v0.0.0-test"

// options are the settings of most tests: permissions are not cached, and callers are not limited.
func options(t *testing.T) apiserver.Options {
	t.Helper()
	return apiserver.Options{
		Cluster: serverConfig, Preview: preview(t), Version: testVersion, LeaseNamespace: metav1.NamespaceDefault,
		TokenTTL: time.Second, AccessTTL: 50 * time.Millisecond, RequestsPerSecond: 1e6, Burst: 1e6, SignInBurst: 1e6,
		QuestionsPerSecond: 1e6, QuestionBurst: 1e6,
	}
}

// start runs a server until the test ends.
func start(t *testing.T, change ...func(*apiserver.Options)) *server {
	t.Helper()
	s := startAt(t, listen(t), change...)
	s.becomes(http.StatusOK, "", "GET", "/readyz", "")
	return s
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	expect.NoError(t, err)
	return listener
}

// startForEditor starts a server, and creates an editor of a new namespace.
func startForEditor(t *testing.T) (s *server, namespace, token string) {
	t.Helper()
	s, namespace = start(t), newNamespace(t)
	return s, namespace, newEditor(t, namespace).token
}

// startAt is like start, for servers that are not ready or that do not listen on an address of this machine.
func startAt(t *testing.T, listener net.Listener, change ...func(*apiserver.Options)) *server {
	t.Helper()
	settings := options(t)
	settings.Log = ktesting.NewLogger(ktesting.NopTL{},
		ktesting.NewConfig(ktesting.Verbosity(9), ktesting.BufferLogs(true)))
	s := &server{
		t: t, url: "http://" + listener.Addr().String(),
		log: settings.Log.GetSink().(ktesting.Underlier).GetBuffer(),
	}
	for _, each := range change {
		each(&settings)
	}
	under, err := apiserver.New(settings)
	expect.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- under.Serve(ctx, listener) }()
	s.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("server ended: %v", err)
		}
	})
	t.Cleanup(s.stop)
	return s
}

// on returns the same server for a subtest.
func (s *server) on(t *testing.T) *server {
	out := *s
	out.t = t
	return &out
}

// answer is the response of a server.
type answer struct {
	status int
	header http.Header
	body   string
}

func (a answer) String() string { return fmt.Sprintf("%d: %s", a.status, a.body) }

// call sends a request with a token and with headers, given as alternating names and values. The response must match
// the OpenAPI document.
func (s *server) call(token, method, path, body string, headers ...string) answer {
	s.t.Helper()
	got := s.raw(token, method, path, body, headers...)
	checkContract(s.t, method, path, got)
	return got
}

// raw is like call, for responses that come from a middleware instead of the operation.
func (s *server) raw(token, method, path, body string, headers ...string) answer {
	s.t.Helper()
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	response, err := s.send(s.t.Context(), token, method, path, content, headers...)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	return answer{status: response.StatusCode, header: response.Header, body: string(raw)}
}

// send is like raw, for responses that are read piece by piece or not at all.
func (s *server) send(
	ctx context.Context, token, method, path string, body io.Reader, headers ...string,
) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, s.url+path, body)
	if err != nil {
		return nil, err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	if host := request.Header.Get("Host"); host != "" {
		request.Host = host
	}
	noRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return (&http.Client{Transport: s.transport, CheckRedirect: noRedirect}).Do(request)
}

// want is like call, with the expected status.
func (s *server) want(status int, token, method, path, body string, headers ...string) answer {
	s.t.Helper()
	got := s.call(token, method, path, body, headers...)
	if got.status != status {
		if got.status >= http.StatusInternalServerError {
			s.t.Log(s.log)
		}
		s.t.Fatalf("%s %s: got status %s, want %d", method, path, got, status)
	}
	return got
}

// limited sends a request of a caller who exceeds a limit.
func (s *server) limited(token, method, path string) {
	s.t.Helper()
	got := s.want(http.StatusTooManyRequests, token, method, path, "")
	if problemOf(s.t, got); got.header.Get("Retry-After") == "" {
		s.t.Error("429 without Retry-After")
	}
}

// becomes repeats call until the response has a status.
func (s *server) becomes(status int, token, method, path, body string, headers ...string) (got answer) {
	s.t.Helper()
	eventually(s.t, fmt.Sprintf("%s %s: got status %d", method, path, status), func() error {
		if got = s.call(token, method, path, body, headers...); got.status != status {
			return fmt.Errorf("answers %s", got)
		}
		return nil
	})
	return got
}

// intercept calls a function before each request that a server sends with its own identity. If the function returns an
// error, the request fails with it.
func intercept(before func(*http.Request) error) func(*apiserver.Options) {
	return func(o *apiserver.Options) {
		o.Cluster = rest.CopyConfig(o.Cluster)
		o.Cluster.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return roundTripper(func(request *http.Request) (*http.Response, error) {
				if err := before(request); err != nil {
					return nil, err
				}
				return next.RoundTrip(request)
			})
		})
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// into decodes a body.
func into[T any](t *testing.T, a answer) T {
	t.Helper()
	var out T
	if err := json.Unmarshal([]byte(a.body), &out); err != nil {
		t.Fatalf("decode %s: %v", a, err)
	}
	return out
}

// problemOf decodes a problem, and checks that it is complete.
func problemOf(t *testing.T, a answer) problem.Details {
	t.Helper()
	if got := a.header.Get("Content-Type"); got != "application/problem+json" {
		t.Fatalf("content type is %q, want a problem: %s", got, a)
	}
	out := into[problem.Details](t, a)
	if out.Title != http.StatusText(a.status) || out.Status != a.status || out.Detail == "" {
		t.Fatalf("the problem is incomplete: %s", a)
	}
	return out
}

// wantLocations checks the locations of the errors in a problem.
func wantLocations(t *testing.T, a answer, want ...string) {
	t.Helper()
	var got []string
	for _, field := range problemOf(t, a).Errors {
		got = append(got, field.Location)
		if field.Message == "" {
			t.Errorf("%s has no message", field.Location)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("errors are at %q, want %q: %s", got, want, a)
	}
}
