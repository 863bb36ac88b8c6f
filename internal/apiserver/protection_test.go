package apiserver_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/auth"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

// TestEachRouteIsBehindTheMiddlewares. The middlewares have their own tests in package middleware.
func TestEachRouteIsBehindTheMiddlewares(t *testing.T) {
	t.Parallel()
	s := start(t)
	for path, want := range map[string]string{
		"/darkrooms": "authentication required", "/nothing": "not found", "/healthz": "ok", "/readyz": "ok",
		"/version": `{"version":"v0.0.0-test"}`, "/openapi.json": "",
	} {
		got := s.raw("", "GET", path, "", "Accept-Encoding", "gzip")
		contains(t, path, got.body, want)
		header := got.header
		for name, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
			"Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			contains(t, path+": "+name, header.Get(name), want)
		}
		if packed := header.Get("Content-Encoding") == "gzip"; packed != (len(got.body) > 1000) {
			t.Errorf("%s is compressed: %t, %d bytes", path, packed, len(got.body))
		}
		if got := s.raw("", "GET", path, "", "Origin", "https://evil.example.com"); got.status != http.StatusForbidden {
			t.Errorf("%s responds to another site with %s", path, got)
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
	s.limited(greedy, "GET", "/session")
	s.want(http.StatusOK, modest, "GET", "/session", "")
}

// A script that reads as fast as it can is slowed down by its rate limit. Meanwhile the page of the same user still
// gets lists and streams, which have separate limits.
func TestAScriptDoesNotStopThePageOfItsUser(t *testing.T) {
	t.Parallel()
	s, namespace := start(t, func(o *apiserver.Options) { o.RequestsPerSecond, o.Burst = 10, 10 }), newNamespace(t)
	token := newEditor(t, namespace).token
	var longest time.Duration
	for range 25 {
		began := time.Now()
		s.want(http.StatusOK, token, "GET", "/session", "")
		longest = max(longest, time.Since(began))
	}
	if wait := 50 * time.Millisecond; longest < wait {
		t.Errorf("the longest of 25 reads took %s, want one that waited for %s", longest, wait)
	}
	s.want(http.StatusOK, token, "GET", "/darkrooms?namespace="+namespace, "")
	for range maxTabs {
		s.follow(token, "/events/stream?namespace="+namespace).until("synced")
	}
}

// maxTabs is the number of tabs that have a stream at the same time.
const maxTabs = 6

func TestABodyWithoutALengthIsBounded(t *testing.T) {
	t.Parallel()
	s, namespace := start(t), newNamespace(t)
	// The body is sent in chunks, without a length.
	body := io.MultiReader(strings.NewReader(strings.Repeat("x", 2<<20)))
	response, err := s.send(t.Context(), newEditor(t, namespace).token, http.MethodPost, "/darkrooms", body)
	expect.NoError(t, err)
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
	if got := listed(t, s, "", "?namespace="+namespace); len(got) != 1 {
		t.Errorf("list is %q", got)
	}
	s.follow("", "/events/stream?namespace="+namespace).until("synced")

	if got := s.raw("", "GET", "/darkrooms", "", "Host", "evil.example.com"); got.status != http.StatusMisdirectedRequest {
		t.Errorf("a page whose name resolves to this machine gets status %s", got)
	}
	settings := options(t)
	owner(&settings)
	settings.BindAddress = ":5000"
	if _, err := apiserver.New(settings); err == nil || !strings.Contains(err.Error(), "127.0.0.1:5000") {
		t.Errorf("listening on all addresses is not refused with a remedy: %v", err)
	}
}
