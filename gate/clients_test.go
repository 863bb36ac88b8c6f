package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"image"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// testdata/clients.txt contains URLs built by client libraries, with the sizes that they declare in pages. URLs with
// auto=format return WebP to a browser.
func TestClientLibrariesGetTheSizesAndTypesThatTheyPromise(t *testing.T) {
	keys := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(keys, []byte("the first key, 0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := newOrigin(t)
	open := start(t, o.url, nil)
	signed := start(t, o.url, map[string]string{"GATE_SIGNING_KEYS_FILE": keys, "GATE_SIGNING_SCHEME": "imgix"})
	recorded, err := os.ReadFile("testdata/clients.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(recorded)) {
		client, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		size, url, _ := strings.Cut(rest, " ")
		g := open
		if client == "imgix-signed" {
			g = signed
			signed.expect(strings.Replace(url, "&s=", "&s=0", 1), http.StatusForbidden)
		}
		got := g.do(http.MethodGet, url, acceptsWebP)
		want := "image/" + map[bool]string{true: "webp", false: "jpeg"}[strings.Contains(url, "format")]
		if got.header.Get("Content-Type") != want {
			t.Errorf("%s %s: %d %s, want %s", client, url, got.status, got.header.Get("Content-Type"), want)
		}
		config, _, err := image.DecodeConfig(bytes.NewReader(got.body))
		if found := fmt.Sprintf("%dx%d", config.Width, config.Height); err != nil || !strings.HasPrefix(found, size) {
			t.Errorf("%s %s: %s, want %s: %v", client, url, found, size, err)
		}
	}
}

func TestABrowserIsToldWhatTakesTime(t *testing.T) {
	o := newOrigin(t)
	g := start(t, o.url, nil)
	for _, want := range []string{
		`^cache;desc=miss, queue;dur=[0-9.]+, fetch;dur=[0-9.]+, decode;dur=[0-9.]+, resize;dur=[0-9.]+, encode;dur=[0-9.]+, total;dur=[0-9.]+$`,
		`^cache;desc=hit, total;dur=[0-9.]+$`,
	} {
		got := g.expect("/photo.jpg?w=20", http.StatusOK).header.Get("Server-Timing")
		if !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%q does not match %s", got, want)
		}
	}
	got := g.expect("/none.jpg", http.StatusNotFound).header.Get("Server-Timing")
	if !strings.Contains(got, "fetch;dur=") {
		t.Errorf("a missing image: %q", got)
	}
	// On a busy machine, some time belongs to no part.
	var named float64
	for width := 800; named < .9 && width < 820; width++ {
		named = max(named, shareWithName(g.expect(fmt.Sprintf("/large.jpg?w=%d", width), http.StatusOK).header))
	}
	if named < .9 {
		t.Errorf("at most %.0f %% of the time have a name", 100*named)
	}
	silent := start(t, o.url, map[string]string{"GATE_SERVER_TIMING": "false"})
	if got := silent.expect("/photo.jpg?w=20", http.StatusOK).header; got.Get("Server-Timing") != "" {
		t.Errorf("although it is off: %v", got)
	}
}

// shareWithName returns the share of the total time that the other parts of Server-Timing account for.
func shareWithName(header http.Header) float64 {
	var parts, total float64
	for part := range strings.SplitSeq(header.Get("Server-Timing"), ", ") {
		name, took, _ := strings.Cut(part, ";dur=")
		milliseconds, _ := strconv.ParseFloat(took, 64)
		if name == "total" {
			total = milliseconds
		} else {
			parts += milliseconds
		}
	}
	return parts / total
}

// Canvas, WebGL and fetch need the first header; pages with Cross-Origin-Embedder-Policy need the second.
func TestPagesOfOtherOriginsMayReadImages(t *testing.T) {
	o := newOrigin(t)
	for _, allowed := range []string{"true", "false"} {
		g := start(t, o.url, map[string]string{"GATE_CROSS_ORIGIN": allowed})
		for path, want := range map[string]int{"/photo.jpg?w=20": 200, "/none.jpg": 404} {
			header := g.expect(path, want).header
			for name, value := range map[string]string{
				"Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin", "Timing-Allow-Origin": "*",
			} {
				if got := header.Get(name); (got == value) != (allowed == "true") || (got == "") != (allowed == "false") {
					t.Errorf("%s, allowed %s: %s %q", path, allowed, name, got)
				}
			}
		}
		preflight := g.do(http.MethodOptions, "/photo.jpg", map[string]string{"Access-Control-Request-Method": "GET"})
		if preflight.status != map[string]int{"true": 204, "false": 405}[allowed] {
			t.Errorf("OPTIONS, allowed %s: %d", allowed, preflight.status)
		}
	}
}

func TestSignedURLsAreKeptUntilTheyExpire(t *testing.T) {
	keys := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(keys, []byte("the first key, 0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	g := start(t, newOrigin(t).url, map[string]string{
		"GATE_SIGNING_KEYS_FILE": keys,
		"GATE_PUBLIC_REQUEST":    "/photo.jpg?w=16",
	})
	// The URL is from testdata/signatures.txt, which another program has written.
	g.expect("/a.jpg?expires=4102444800&w=20&s=9c12fbf807b155f79a798fbebf614338515143d1568085a06b527bd7e060fd6a",
		http.StatusNotFound)
	g.expect("/photo.jpg?w=16", http.StatusOK)
	if got := g.expect("/photo.jpg?w=17", http.StatusForbidden); got.header.Get("Cache-Control") != "no-store" {
		t.Errorf("a refusal may be kept: %v", got.header)
	}
	expires := fmt.Sprintf("expires=%d", time.Now().Add(100*time.Second).Unix())
	hash := hmac.New(sha256.New, []byte("the first key, 0123456789"))
	hash.Write([]byte("/photo.jpg?" + expires + "&w=20"))
	got := g.expect(fmt.Sprintf("/photo.jpg?w=20&%s&s=%x", expires, hash.Sum(nil)), http.StatusOK)
	var maxAge int
	if _, err := fmt.Sscanf(got.header.Get("Cache-Control"), "public, max-age=%d", &maxAge); err != nil || maxAge > 100 {
		t.Errorf("a URL that expires may be kept: %v", got.header)
	}
	g.url = g.metrics
	counted := string(g.expect("/metrics", http.StatusOK).body)
	if !strings.Contains(counted, `darkroom_gate_signatures_total{result="missing"} 1`) {
		t.Error(counted)
	}
}
