package main

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// behind starts a gate with an origin and a fallback.
func behind(t *testing.T, first, fallback *origin, environ map[string]string) *gate {
	t.Helper()
	all := map[string]string{
		"GATE_ADDITIONAL_SOURCES": "old", "SOURCE_1_BASEURL": fallback.url,
		"GATE_SOURCE_1_FALLBACK": "true",
	}
	maps.Copy(all, environ)
	return start(t, first.url, all)
}

func (g *gate) metric(line string) bool {
	g.t.Helper()
	response := httptest.NewRecorder()
	answer, err := http.Get(g.metrics + "/metrics")
	if err != nil {
		g.t.Fatal(err)
	}
	defer answer.Body.Close()
	_, _ = response.Body.ReadFrom(answer.Body)
	return strings.Contains(response.Body.String(), "\n"+line+"\n")
}

// An image moves from the fallback to the first source. Each source gets only its own validators, and the cached
// image stays valid.
func TestAnImageThatMovesToAnotherSourceIsServedThroughout(t *testing.T) {
	var mu sync.Mutex
	var sent []string
	record := func(of string, has bool, etag string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			sent = append(sent, of+r.Header.Get("If-None-Match"))
			switch {
			case !has:
				w.WriteHeader(http.StatusNotFound)
			case r.Header.Get("If-None-Match") == etag:
				w.WriteHeader(http.StatusNotModified)
			default:
				w.Header().Set("ETag", etag)
				_, _ = w.Write(images()["photo.jpg"])
			}
		}
	}
	first, old := newOrigin(t), newOrigin(t)
	g := behind(t, first, old, map[string]string{"GATE_REVALIDATE_SECONDS": "0", "GATE_STALE_IF_ERROR_SECONDS": "0"})
	if !g.metric(`darkroom_gate_fallback_originals_total{source="old"} 0`) {
		t.Error("the metric of the fallback is not there from the start")
	}
	first.respond(record("first", false, ""))
	old.respond(record("old", true, `"1"`))
	etag := g.expect("/photo.jpg?w=10", http.StatusOK).header.Get("ETag")
	g.expect("/photo.jpg?w=10", http.StatusOK)
	first.respond(record("first", true, `"2"`))
	g.expect("/photo.jpg?w=10", http.StatusOK)
	if got := g.expect("/photo.jpg?w=10", http.StatusOK); got.header.Get("ETag") != etag {
		t.Error("the same image has another ETag")
	}
	if got, want := strings.Join(sent, " "), `first old first old"1" first first"2"`; got != want {
		t.Errorf("requests %s, want %s", got, want)
	}
	if !g.metric(`darkroom_gate_fallback_originals_total{source="old"} 2`) {
		t.Error("the metric does not have two originals of the fallback")
	}
}

func TestASourceThatFailsIsNamedAndNoOtherIsAsked(t *testing.T) {
	first, old := newOrigin(t), newOrigin(t)
	g := behind(t, first, old, nil)
	for path, status := range map[string]int{"/denied.jpg": 403, "/failing.jpg": 500} {
		first.respond(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
		if got := g.do(http.MethodGet, path, nil); got.status == http.StatusOK || old.asked(path) != 0 {
			t.Errorf("%s: %d, and the fallback received %d requests", path, got.status, old.asked(path))
		}
	}
	first.respond(nil)
	old.respond(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	got := g.expect("/none.jpg", http.StatusBadGateway)
	if !strings.Contains(string(got.body), "additional source old: ") {
		t.Errorf("%s does not name the source", got.body)
	}
}

func TestEachSourceHasItsOwnCredentialsAndPath(t *testing.T) {
	var mu sync.Mutex
	authorized := map[string]string{}
	bucket := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		authorized[r.URL.Path], _, _ = strings.Cut(r.Header.Get("Authorization"), "/")
		_, _ = w.Write(images()["photo.jpg"])
	}))
	t.Cleanup(bucket.Close)
	environ := map[string]string{
		"GATE_ADDITIONAL_SOURCES": "products,open", "GATE_SOURCE_1_PATH": "/products", "GATE_SOURCE_1_STRIP_PATH": "true",
		"GATE_SOURCE_2_PATH": "/open", "SOURCE_2_BASEURL": bucket.URL,
	}
	for prefix, name := range map[string]string{"SOURCE_": "one", "SOURCE_1_": "two"} {
		maps.Copy(environ, map[string]string{
			prefix + "KIND": "s3", prefix + "BUCKET_NAME": name, prefix + "BUCKET_REGION": "r",
			prefix + "BUCKET_ENDPOINT":  bucket.URL,
			prefix + "BUCKET_ACCESSKEY": name, prefix + "BUCKET_SECRETKEY": name,
		})
	}
	g := start(t, "", environ)
	for _, path := range []string{"/photo.jpg", "/products/photo.jpg", "/open/photo.jpg"} {
		g.expect(path+"?w=10", http.StatusOK)
	}
	const signed = "AWS4-HMAC-SHA256 Credential="
	want := map[string]string{"/one/photo.jpg": signed + "one", "/two/photo.jpg": signed + "two", "/open/photo.jpg": ""}
	if !maps.Equal(authorized, want) {
		t.Errorf("requests %v, want %v", authorized, want)
	}
}

func TestAnAdditionalSourceThatLeadsBackToTheGateIsNoticed(t *testing.T) {
	first, old := newOrigin(t), newOrigin(t)
	g := behind(t, first, old, nil)
	old.respond(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, g.url+r.URL.Path+"?again="+r.URL.Query().Get("again")+"x", http.StatusFound)
	})
	g.expect("/loop.jpg", http.StatusBadGateway)
	if got := old.asked("/loop.jpg"); got != 1 {
		t.Errorf("the source received %d requests", got)
	}
}
