package apiserver_test

import (
	"compress/gzip"
	"io"
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
		for _, part := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"} {
			if !strings.Contains(policy, part) {
				t.Errorf("%s: the policy %q lacks %s", address, policy, part)
			}
		}
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
	packed := s.want(http.StatusOK, "", "GET", "/"+script, "", "Accept-Encoding", "gzip, deflate, br")
	if packed.header.Get("Content-Encoding") != "gzip" || len(packed.body) > 1000 {
		t.Fatalf("not packed: %d bytes, %v", len(packed.body), packed.header)
	}
	reader, err := gzip.NewReader(strings.NewReader(packed.body))
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, refusal := range []string{"identity", "gzip;q=0", "br, gzip; q=0.0"} {
		plain := s.want(http.StatusOK, "", "GET", "/"+script, "", "Accept-Encoding", refusal)
		if plain.header.Get("Content-Encoding") != "" || plain.body != string(content) {
			t.Errorf("to %q the answer is %d bytes, %v", refusal, len(plain.body), plain.header)
		}
	}
	if kind := packed.header.Get("Content-Type"); kind != "text/javascript; charset=utf-8" {
		t.Errorf("content type is %s", kind)
	}
	if cache := packed.header.Get("Cache-Control"); cache != "public, max-age=31536000, immutable" {
		t.Errorf("caches are told %s", cache)
	}
	icon := s.want(http.StatusOK, "", "GET", "/favicon.svg", "")
	if cache := icon.header.Get("Cache-Control"); cache != "no-cache" {
		t.Errorf("what may change under its name is kept: %s", cache)
	}
	if policy := icon.header.Get("Content-Security-Policy"); !strings.Contains(policy, "sandbox") {
		t.Errorf("a drawing may run scripts: %s", policy)
	}
}

func TestServerWithoutPageShowsBuildInstructions(t *testing.T) {
	t.Parallel()
	got := start(t, func(o *apiserver.Options) { o.Page = fstest.MapFS{".gitkeep": {}} }).want(http.StatusOK, "", "GET", "/", "")
	if !strings.Contains(got.body, "make page build") || !strings.Contains(got.header.Get("Content-Type"), "text/html") {
		t.Errorf("it answers %s", got)
	}
}
