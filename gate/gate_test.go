package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"image"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestImagesAreTransformed(t *testing.T) {
	g := start(t, newOrigin(t).url, nil)
	for target, want := range map[string]image.Point{
		"/photo.jpg":                     {X: 600, Y: 400},
		"/photo.jpg?w=150":               {X: 150, Y: 100},
		"/photo.jpg?w=90&h=90&fit=crop":  {X: 90, Y: 90},
		"/photo.jpg?w=90&h=10&fit=scale": {X: 90, Y: 10},
		"/large.jpg?w=150":               {X: 150, Y: 100},
		"/large.jpg?w=90&h=90&fit=crop":  {X: 90, Y: 90},
		"/clear.png?w=30":                {X: 30, Y: 20},
		"/photo.jpg?w=100":               {X: 100, Y: 67}, // rounded
		"/photo.jpg?w=100&blur=1":        {X: 100, Y: 67}, // by Darkroom
	} {
		got := g.expect(target, http.StatusOK)
		config, _, err := image.DecodeConfig(bytes.NewReader(got.body))
		if err != nil || image.Pt(config.Width, config.Height) != want {
			t.Errorf("%s: %dx%d %v, want %v", target, config.Width, config.Height, err, want)
		}
		if !strings.HasPrefix(got.header.Get("Content-Type"), "image/") ||
			got.header.Get("X-Content-Type-Options") != "nosniff" ||
			got.header.Get("ETag") == "" || got.header.Get("Vary") != "" ||
			got.header.Get("Cache-Control") != "public, max-age=31536000" {
			t.Errorf("%s: header %v", target, got.header)
		}
	}
}

// Darkroom encodes JPEG with a quality of 75, so only a lower one has an effect.
func TestTheQualityAppliesToResultsOfDarkroomToo(t *testing.T) {
	g := start(t, newOrigin(t).url, nil)
	size := func(parameters string) int {
		got := g.expect("/photo.jpg?blur=1&w=300"+parameters, http.StatusOK)
		if kind := got.header.Get("Content-Type"); kind != "image/jpeg" {
			t.Errorf("%s: %s", parameters, kind)
		}
		return len(got.body)
	}
	whole := size("")
	if low := size("&q=10"); low > whole/2 {
		t.Errorf("%d bytes of quality 10, %d of 75", low, whole)
	}
	if high := size("&q=100"); high != whole {
		t.Errorf("%d bytes of quality 100, %d of 75", high, whole)
	}
}

func TestFailuresAreProblemsThatAreCachedForSecondsAtMost(t *testing.T) {
	g := start(t, newOrigin(t).url, nil)
	for target, status := range map[string]int{
		"/none.jpg":           404,
		"/none.jpg?w=10":      404,
		"/page.jpg":           415,
		"/bomb.png?w=10":      413,
		"/photo.jpg?blur=999": 400,
		"/photo.jpg?w=wide":   400,
	} {
		got := g.expect(target, status)
		var details struct {
			Status int
			Detail string
		}
		if err := json.Unmarshal(got.body, &details); err != nil || details.Status != status || details.Detail == "" {
			t.Errorf("%s: got the body %s (%v), want a problem of status %d with a detail", target, got.body, err, status)
		}
		want := map[string]string{
			"Content-Type": "application/problem+json", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
		}
		if status == http.StatusNotFound {
			want["Cache-Control"] = "public, max-age=5"
		}
		for name, value := range want {
			if got := got.header.Get(name); got != value {
				t.Errorf("%s: got %s %q, want %q", target, name, got, value)
			}
		}
	}
}

func TestATruncatedFileAndASizeBeyondTheLimitAreServed(t *testing.T) {
	g := start(t, newOrigin(t).url, nil)
	for _, target := range []string{
		"/cut.jpg?w=10", "/photo.jpg?w=4096", "/photo.jpg?w=9999&h=9999&fit=crop", "/photo.jpg?w=4000&h=1&fit=crop",
	} {
		g.expect(target, http.StatusOK)
	}
}

func TestPresetsOfTheEnvironment(t *testing.T) {
	g := start(t, newOrigin(t).url, map[string]string{
		"GATE_PRESETS":      `{"small":"w=30"}`,
		"GATE_ONLY_PRESETS": "true", "LOG_LEVEL": "Error",
	})
	g.expect("/photo.jpg?preset=small", http.StatusOK)
	g.expect("/photo.jpg?w=30", http.StatusBadRequest)
}

func TestConditionalRequestsRangesAndHEAD(t *testing.T) {
	g := start(t, newOrigin(t).url, nil)
	full := g.expect("/photo.jpg?w=100", http.StatusOK)
	etag := full.header.Get("ETag")
	for _, test := range []struct {
		method string
		header map[string]string
		status int
		body   []byte
	}{
		{http.MethodHead, nil, 200, nil},
		{http.MethodGet, map[string]string{"If-None-Match": etag}, 304, nil},
		{http.MethodGet, map[string]string{"Range": "bytes=2-5"}, 206, full.body[2:6]},
		{http.MethodGet, map[string]string{"Range": "bytes=2-5", "If-Range": `"other"`}, 200, full.body},
		{http.MethodGet, map[string]string{"Range": "BYTES=2-5"}, 206, full.body[2:6]},
		{http.MethodGet, map[string]string{"Range": "bytes=9999999-"}, 416, nil},
		{http.MethodGet, map[string]string{"Range": "bytes=x"}, 416, nil},
		{http.MethodGet, map[string]string{"If-Match": `"other"`}, 412, nil},
	} {
		got := g.do(test.method, "/photo.jpg?w=100", test.header)
		failed := got.header.Get("Content-Type") == "application/problem+json" && got.header.Get("Cache-Control") == "no-store" &&
			json.Valid(got.body)
		if got.status != test.status || failed != (got.status >= 400) || !failed && !bytes.Equal(got.body, test.body) {
			t.Errorf("%s %v: %d with %d bytes, want %d with %d", test.method, test.header, got.status, len(got.body),
				test.status, len(test.body))
		}
	}
	if got := g.do(http.MethodPost, "/photo.jpg", nil); got.status != 405 || got.header.Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d %v", got.status, got.header)
	}
	if got := g.do(http.MethodHead, "/none.jpg", nil); got.status != 404 {
		t.Errorf("HEAD of a missing image: %d", got.status)
	}
}

func TestTheSourceIsAskedOnceHoweverManyAsk(t *testing.T) {
	o := newOrigin(t)
	g := start(t, o.url, nil)
	var wait sync.WaitGroup
	for range 200 {
		wait.Go(func() { g.expect("/photo.jpg?w=120", http.StatusOK) })
	}
	wait.Wait()
	if got := o.asked("/photo.jpg"); got != 1 {
		t.Errorf("the source received %d requests", got)
	}
}

func TestErrorsOfTheSourceDoNotAffectOtherImages(t *testing.T) {
	o := newOrigin(t)
	g := start(t, o.url, nil)
	o.respond(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	for i := range 40 {
		if got := g.expect("/bad"+strings.Repeat("x", i)+".jpg", http.StatusBadGateway); got.header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
	}
	o.respond(nil)
	g.expect("/photo.jpg?w=10", http.StatusOK)
}

func TestAChangedImageIsServedOnceTheOldOneIsRevalidated(t *testing.T) {
	o := newOrigin(t)
	g := start(t, o.url, map[string]string{"GATE_REVALIDATE_SECONDS": "0"})
	first := g.expect("/photo.jpg?w=10", http.StatusOK)
	if same := g.expect("/photo.jpg?w=10", http.StatusOK); same.header.Get("ETag") != first.header.Get("ETag") {
		t.Error("changed although the source did not")
	}
	// Use another image than one whose refresh has just ended.
	g.waitUntil("an image that is being revalidated may be stored for a minute", func() bool {
		return g.expect("/photo.jpg?w=10", http.StatusOK).header.Get("Cache-Control") == "public, max-age=60"
	})
	o.respond(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(images()["clear.png"]) })
	g.waitUntil("the new image is served", func() bool {
		return g.expect("/photo.jpg?w=10", http.StatusOK).header.Get("ETag") != first.header.Get("ETag")
	})
	o.respond(http.NotFound)
	g.waitUntil("the image is gone",
		func() bool { return g.do(http.MethodGet, "/photo.jpg?w=10", nil).status == http.StatusNotFound })
}

func TestAllSizesOfAnImageAreMadeOfOneOriginal(t *testing.T) {
	o := newOrigin(t)
	g := start(t, o.url, nil)
	proceed := make(chan struct{})
	o.respond(func(w http.ResponseWriter, _ *http.Request) {
		<-proceed
		_, _ = w.Write(images()["large.jpg"])
	})
	var wait sync.WaitGroup
	for _, path := range []string{"/large.jpg", "/small.jpg"} {
		for width := range 8 {
			wait.Go(func() { g.expect(fmt.Sprintf("%s?w=%d", path, 100+100*width), http.StatusOK) })
		}
	}
	g.waitUntil("both are requested", func() bool { return o.asked("/large.jpg") == 1 && o.asked("/small.jpg") == 1 })
	time.Sleep(200 * time.Millisecond) // until all requests have arrived
	close(proceed)
	wait.Wait()
	if large, small := o.asked("/large.jpg"), o.asked("/small.jpg"); large != 1 || small != 1 {
		t.Errorf("the sources received %d and %d requests", large, small)
	}
}

func TestASourceThatLeadsBackToTheGateIsNoticed(t *testing.T) {
	o := newOrigin(t)
	g := start(t, o.url, nil)
	o.respond(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/loop.jpg" {
			http.Redirect(w, r, g.url+"/loop.jpg?again="+r.URL.Query().Get("again")+"x", http.StatusFound)
			return
		}
		_, _ = w.Write(images()["photo.jpg"])
	})
	g.expect("/loop.jpg", http.StatusBadGateway)
	if got := o.asked("/loop.jpg"); got != 1 {
		t.Errorf("the source received %d requests", got)
	}
	g.expect("/photo.jpg", http.StatusOK)
	got := g.do(http.MethodGet, "/other.jpg", map[string]string{"CDN-Loop": "other-cdn, darkroom-gate-0000000000000000"})
	if got.status != http.StatusOK {
		t.Errorf("a request through another gate: %d", got.status)
	}
	for i := range 3 { // some CDNs append a counter
		g.do(http.MethodGet, "/cdn.jpg", map[string]string{"CDN-Loop": fmt.Sprintf("cdn; loops=1; subreqs=%d", i)})
	}
	if got := o.asked("/cdn.jpg"); got != 1 {
		t.Errorf("the source received %d requests for an image that is cached", got)
	}
}

func TestADrainFinishesRequestsThatAreUnderWay(t *testing.T) {
	o := newOrigin(t)
	g := start(t, o.url, nil)
	asked, proceed := make(chan struct{}), make(chan struct{})
	o.respond(func(w http.ResponseWriter, _ *http.Request) {
		close(asked)
		<-proceed
		_, _ = w.Write(images()["photo.jpg"])
	})
	status := make(chan int, 1)
	go func() { status <- g.do(http.MethodGet, "/photo.jpg?w=10", nil).status }()
	<-asked
	g.stop()
	g.waitUntil("no connection is accepted", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		request, _ := http.NewRequestWithContext(ctx, http.MethodGet, g.url+"/ping", nil)
		response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
		if err == nil {
			response.Body.Close()
		}
		return err != nil
	})
	close(proceed)
	if got := <-status; got != http.StatusOK {
		t.Errorf("status %d", got)
	}
}

func TestMetricsCountRequestsWithoutPaths(t *testing.T) {
	g := start(t, newOrigin(t).url, nil)
	g.expect("/photo.jpg?w=10", http.StatusOK)
	g.expect("/photo.jpg?w=10", http.StatusOK)
	g.expect("/photo.jpg?w=10&blur=1", http.StatusOK)
	g.expect("/none.jpg", http.StatusNotFound)
	g.expect("/photo.jpg?w=0", http.StatusBadRequest)
	g.url = g.metrics
	metrics := string(g.expect("/metrics", http.StatusOK).body)
	for _, line := range []string{
		`darkroom_gate_requests_total{cache="miss",code="200"} 2`,
		`darkroom_gate_requests_total{cache="hit",code="200"} 1`,
		`darkroom_gate_requests_total{cache="miss",code="404"} 1`,
		`darkroom_gate_requests_total{cache="none",code="400"} 1`,
		`darkroom_gate_render_duration_seconds_count{result="ok"} 1`,
		`darkroom_gate_transform_duration_seconds_count{result="ok"} 1`,
		`darkroom_gate_cache_entries{tier="memory"} 2`,
	} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("no %s", line)
		}
	}
	if strings.Contains(metrics, "photo") {
		t.Error("a path in the metrics")
	}
	mustHaveRecorded(t, metrics)
	g.expect("/healthz", http.StatusOK)
}

// Only complete responses count, however they were created.
func TestBytesSavedAreThoseOfOriginalsLessResults(t *testing.T) {
	g := start(t, newOrigin(t).url, nil)
	original := len(g.expect("/photo.jpg", http.StatusOK).body)
	want := 0
	for _, path := range []string{"/photo.jpg?w=10", "/photo.jpg?w=10", "/photo.jpg?w=20&h=20&fit=crop"} {
		want += original - len(g.expect(path, http.StatusOK).body)
	}
	webp := g.do("GET", "/photo.jpg?w=20&auto=format", map[string]string{"Accept": "image/webp"})
	want += original - len(webp.body)
	g.do("HEAD", "/photo.jpg?w=10", nil)
	g.do("GET", "/photo.jpg?w=10", map[string]string{"Range": "bytes=0-9"})
	g.do("GET", "/photo.jpg?w=10", map[string]string{"If-None-Match": "*"})
	g.expect("/none.jpg?w=10", http.StatusNotFound)
	g.url = g.metrics
	line := fmt.Sprintf("darkroom_gate_saved_bytes_total %d\n", want)
	if want <= 0 || !strings.Contains(string(g.expect("/metrics", http.StatusOK).body), line) {
		t.Errorf("no %s", line)
	}
}

var update = flag.Bool("update", false, "write testdata/series.txt")

// mustHaveRecorded compares the series of the gate with the recorded ones, with which alerts and dashboards are tested.
// Only the last bucket of histograms is recorded.
func mustHaveRecorded(t *testing.T, metrics string) {
	t.Helper()
	var series strings.Builder
	for line := range strings.Lines(metrics) {
		name, _, _ := strings.Cut(line, " ")
		if strings.HasPrefix(name, "darkroom_gate_") &&
			(!strings.Contains(name, "le=") || strings.Contains(name, `le="+Inf"`)) {
			series.WriteString(name + "\n")
		}
	}
	file := filepath.Join("testdata", "series.txt")
	if *update {
		if err := os.WriteFile(file, []byte(series.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if recorded, err := os.ReadFile(file); err != nil || string(recorded) != series.String() {
		t.Errorf("%v; go test . -update writes %s", err, file)
	}
}

// With its base image of 2 MB, the image is smaller than 20 MB.
func TestTheProgramIsSmall(t *testing.T) {
	const limit = 15_000_000
	program := filepath.Join(t.TempDir(), "gate")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	info, err := os.Stat(program)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > limit {
		t.Errorf("the program has %d bytes, want at most %d", info.Size(), limit)
	}
}
