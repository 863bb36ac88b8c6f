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
	for _, address := range []string{"/", "/ui/create", "/ui/photos/cats", "/ui/photos/cats/edit"} {
		got := s.want(http.StatusOK, "", "GET", address, "")
		if !strings.Contains(got.body, "<title>Darkrooms</title>") {
			t.Errorf("%s is %s", address, got)
		}
		policy := got.header.Get("Content-Security-Policy")
		contains(t, address, policy, "default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'", "require-trusted-types-for 'script'")
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

func TestAssetsAreKeptForLongAndSentPacked(t *testing.T) {
	t.Parallel()
	s := start(t, withPage)
	packed := s.want(http.StatusOK, "", "GET", "/"+script, "", "Accept-Encoding", "gzip, deflate, br").header
	if packed.Get("Content-Encoding") != "gzip" || packed.Get("Content-Type") != "text/javascript; charset=utf-8" ||
		packed.Get("Cache-Control") != "public, max-age=31536000, immutable" {
		t.Errorf("the headers of a script are %v", packed)
	}
	for _, refusal := range []string{"identity", "gzip;q=0", "br, gzip; q=0.0"} {
		plain := s.want(http.StatusOK, "", "GET", "/"+script, "", "Accept-Encoding", refusal)
		if plain.header.Get("Content-Encoding") != "" || !strings.HasPrefix(plain.body, "darkroom();") {
			t.Errorf("to %q the answer is %d bytes, %v", refusal, len(plain.body), plain.header)
		}
	}
	// It may change under its name, and must not run scripts.
	icon := s.want(http.StatusOK, "", "GET", "/favicon.svg", "").header
	contains(t, "the policy of a drawing", icon.Get("Content-Security-Policy"), "sandbox")
	contains(t, "the header of a drawing", icon.Get("Cache-Control"), "no-cache")
}
