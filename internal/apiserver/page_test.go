package apiserver_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
)

const script = "assets/index-1a2b3c.js"

func withPage(o *apiserver.Options) {
	o.Page = fstest.MapFS{
		".gitkeep":    {},
		"index.html":  {Data: []byte("<!doctype html><title>Darkrooms</title>")},
		"favicon.svg": {Data: []byte("<svg/>")},
		script:        {Data: []byte(strings.Repeat("darkroom();", 1000))},
	}
}

func TestPageIsServedAtAllOfItsAddresses(t *testing.T) {
	t.Parallel()
	s := start(t, withPage)
	for _, address := range []string{
		"/", "/ui/create", "/ui/photos/cats", "/ui/photos/cats/edit", "/?state=Ready&state=Failed&search=50%",
	} {
		got := s.want(http.StatusOK, "", "GET", address, "")
		if !strings.Contains(got.body, "<title>Darkrooms</title>") {
			t.Errorf("%s is %s", address, got)
		}
		policy := got.header.Get("Content-Security-Policy")
		contains(t, address, policy, "default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'",
			"require-trusted-types-for 'script'")
		if strings.Contains(policy, "unsafe") {
			t.Errorf("%s: the policy is %q", address, policy)
		}
		if got.header.Get("Cache-Control") != "no-cache" {
			t.Errorf("%s: browsers would keep an old page: %v", address, got.header)
		}
		s.want(http.StatusNotModified, "", "GET", address, "", "If-None-Match", got.header.Get("ETag"))
	}
	for _, address := range []string{"/.gitkeep", "/index.html", "/assets/", "/assets/other.js", "/elsewhere"} {
		problemOf(t, s.want(http.StatusNotFound, "", "GET", address, ""))
	}
}

func TestAssetsAreKeptForLong(t *testing.T) {
	t.Parallel()
	s := start(t, withPage)
	header := s.want(http.StatusOK, "", "GET", "/"+script, "", "Accept-Encoding", "gzip").header
	contains(t, "the header of a script", header.Get("Cache-Control"), "immutable")
	contains(t, "the encoding of a script", header.Get("Content-Encoding"), "gzip")
	// The file may change under the same name, and must not run scripts.
	icon := s.want(http.StatusOK, "", "GET", "/favicon.svg", "").header
	contains(t, "the policy of a drawing", icon.Get("Content-Security-Policy"), "sandbox")
	contains(t, "the header of a drawing", icon.Get("Cache-Control"), "no-cache")
}
