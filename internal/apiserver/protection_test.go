package apiserver_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/auth"
)

func TestPlainRoutes(t *testing.T) {
	t.Parallel()
	s := start(t)
	for path, want := range map[string]string{
		"/healthz": "ok", "/readyz": "ok", "/version": `{"version":"v0.0.0-test"}`, "/openapi.json": "/darkrooms/{namespace}/{name}/manifest",
	} {
		if got := s.want(http.StatusOK, "", "GET", path, ""); !strings.Contains(got.body, want) {
			t.Errorf("%s answers %s", path, got)
		}
	}
}

func TestResponsesRestrictBrowsers(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, path := range []string{"/darkrooms", "/openapi.json", "/nothing", "/healthz"} {
		got := s.call("", "GET", path, "")
		policy := got.header.Get("Content-Security-Policy")
		for _, want := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s: the policy %q lacks %q", path, policy, want)
			}
		}
		if strings.Contains(policy, "unsafe") || strings.Contains(policy, "http") {
			t.Errorf("%s: the policy %q allows too much", path, policy)
		}
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY",
		} {
			if got.header.Get(name) != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got.header.Get(name), want)
			}
		}
	}
}

func TestAllowedOriginsMayCall(t *testing.T) {
	t.Parallel()
	const console = "https://console.example.com"
	s := start(t, func(o *apiserver.Options) { o.AllowedOrigins = []string{console} })
	token := newUser(t, newNamespace(t), "visitor").token
	for origin, status := range map[string]int{
		console: http.StatusOK, s.url: http.StatusOK, "https://evil.example.com": http.StatusForbidden,
	} {
		// The contract is of requests that come through.
		if got := s.raw(token, "GET", "/darkrooms", "", "Origin", origin); got.status != status {
			t.Errorf("%s gets %s, want %d", origin, got, status)
		}
	}
}

func TestCallersAreLimitedOneByOne(t *testing.T) {
	t.Parallel()
	s, namespace := start(t, func(o *apiserver.Options) { o.RequestsPerSecond, o.Burst = 0.01, 3 }), newNamespace(t)
	greedy, modest := newUser(t, namespace, "greedy").token, newUser(t, namespace, "modest").token
	for range 3 {
		s.want(http.StatusOK, greedy, "GET", "/session", "")
	}
	got := s.want(http.StatusTooManyRequests, greedy, "GET", "/session", "")
	if problemOf(t, got); got.header.Get("Retry-After") == "" {
		t.Error("429 without Retry-After")
	}
	s.want(http.StatusOK, modest, "GET", "/session", "")
}

func TestBodyWithoutEnd(t *testing.T) {
	t.Parallel()
	s, namespace := start(t), newNamespace(t)
	token := newEditor(t, namespace).token
	// Sent in chunks, without saying how much there is.
	body, in := io.Pipe()
	go func() {
		chunk := []byte(strings.Repeat("x", 64<<10))
		for {
			if _, err := in.Write(chunk); err != nil {
				return
			}
		}
	}()
	defer func() { _ = body.Close() }()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/darkrooms", body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("answers %d", response.StatusCode)
	}
}

func TestKubeconfigRequiresLoopback(t *testing.T) {
	t.Parallel()
	owner := func(o *apiserver.Options) {
		o.Auth, o.BindAddress, o.Cluster = auth.Kubeconfig, "127.0.0.1:0", cluster
	}
	s, namespace := start(t, owner), newNamespace(t)
	who := into[apiserver.Who](t, s.want(http.StatusOK, "", "GET", "/session", ""))
	if who.Username == "" || who.Auth != auth.Kubeconfig {
		t.Errorf("I am %+v", who)
	}
	s.want(http.StatusCreated, "", "POST", "/darkrooms", webFolder(namespace, "photos"))
	if got := names(t, s, "", "?namespace="+namespace); len(got) != 1 {
		t.Errorf("list is %q", got)
	}
	s.follow("", "/events/stream?namespace="+namespace).until(t, "synced")

	// A page whose name has come to mean this machine still says its name.
	for host, status := range map[string]int{
		"evil.example.com": http.StatusMisdirectedRequest, "localhost.evil.example.com": http.StatusMisdirectedRequest,
		"10.0.0.1:5000": http.StatusMisdirectedRequest, "localhost:5000": http.StatusOK, "[::1]:5000": http.StatusOK,
	} {
		if got := s.raw("", "GET", "/darkrooms", "", "Host", host); got.status != status {
			t.Errorf("host %s is answered %s, want %d", host, got, status)
		}
	}

	for _, address := range []string{":5000", "0.0.0.0:5000", "10.0.0.1:5000", "[::]:5000", "example.com:5000", "localhost.example.com:5000"} {
		settings := options(t)
		owner(&settings)
		settings.BindAddress = address
		if _, err := apiserver.New(settings); err == nil || !strings.Contains(err.Error(), "127.0.0.1:5000") {
			t.Errorf("%s is not refused with a remedy: %v", address, err)
		}
	}
}
