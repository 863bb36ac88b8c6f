package serve

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/gate/cache"
	"github.com/darkroom-operator/darkroom-operator/gate/property"
	"github.com/darkroom-operator/darkroom-operator/gate/source"
)

func TestOnlyGETAndHEADAreServed(t *testing.T) {
	h := newHandler(t, 10, 32<<20, "", 0)
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "PURGE"} {
		response := httptest.NewRecorder()
		h.ServeHTTP(response, httptest.NewRequest(method, "/a.png", nil))
		served := method == "GET" || method == "HEAD"
		if (response.Code == http.StatusOK) != served || !served && response.Code != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d", method, response.Code)
		}
	}
}

// For any request of a client, shared caches may store only the image, a part of it, or the response that it is
// unchanged.
func TestOnlyImagesAreKeptWhateverAClientSends(t *testing.T) {
	h := newHandler(t, 100, 32<<20, "", 0)
	h.CacheTTL, h.ID = time.Hour, source.GateOf(nil)
	whole := httptest.NewRecorder()
	h.ServeHTTP(whole, httptest.NewRequest("GET", "/a.png", nil))
	etag := whole.Header().Get("ETag")
	tags := []string{etag, "W/" + etag, `"other"`, "*", etag + `, "other"`, `"`, ""}
	times := []string{"Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 01 Jan 2100 00:00:00 GMT", "now"}
	values := map[string][]string{
		"If-Match": tags, "If-None-Match": tags, "If-Range": slices.Concat(tags, times), "If-Modified-Since": times,
		"If-Unmodified-Since": times,
		"Range": {
			"bytes=0-9", "bytes=-10", "bytes=5-", "bytes=0-0,2-3", "bytes=0-,0-,0-", "bytes=99999-", "bytes=9-0", "bytes=-",
			"lines=1-2", "bytes=0-99999999999999999999",
			"bytes=" + strings.Repeat("0-0,", 500) + "1-1",
		},
		"Accept": {
			"image/webp", "image/webp;q=0", "*/*;q=", ";", "text/html", `image/webp;x="a,b`,
			strings.Repeat("image/webp,", 500),
		},
		"Cdn-Loop":        {"other", h.ID, "other;loops=9, " + h.ID + ";x=1", strings.Repeat("a, ", 3000)},
		"Cache-Control":   {"no-cache", "no-store", "only-if-cached"},
		"X-Forwarded-For": {"", ",", "1.2.3.4", "unknown"},
		"Accept-Encoding": {"gzip", "identity;q=0"},
	}
	property.Check(t, func(t *rapid.T) {
		method := rapid.SampledFrom([]string{"GET", "HEAD", "OPTIONS", "get", "TRACE"}).Draw(t, "method")
		path := rapid.SampledFrom([]string{
			"/a.png", "/b.png?auto=format", "/a.png?w=0", "/%2e%2e%2fa.png", "/a%00.png",
			"/" + strings.Repeat("a", 3000), "//a.png?w=1&w=2",
		}).Draw(t, "path")
		r := httptest.NewRequest(method, path, nil)
		for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom(slices.Sorted(maps.Keys(values))),
			rapid.ID).Draw(t, "headers") {
			r.Header[name] = rapid.SliceOfN(rapid.SampledFrom(values[name]), 1, 2).Draw(t, name)
		}
		ranges := r.Header.Get("Range")
		response := httptest.NewRecorder()
		h.ServeHTTP(response, r)
		header, status := response.Header(), response.Code
		image := status == http.StatusOK || status == http.StatusPartialContent || status == http.StatusNotModified
		want := map[bool]string{true: "public, max-age=3600", false: "no-store"}[image]
		if header.Get("Cache-Control") != want {
			t.Errorf("%d with Cache-Control %q", status, header.Get("Cache-Control"))
		}
		if header.Get("X-Content-Type-Options") != "nosniff" || status >= 500 && status != http.StatusLoopDetected {
			t.Errorf("%d %v", status, header)
		}
		if varies := image && strings.Contains(path, "format"); varies != (header.Get("Vary") == "Accept") && status < 400 {
			t.Errorf("%d with Vary %q", status, header.Get("Vary"))
		}
		if status == http.StatusOK && method == "GET" && response.Body.Len() != whole.Body.Len() && path == "/a.png" {
			t.Errorf("%d of %d bytes", response.Body.Len(), whole.Body.Len())
		}
		part := status == http.StatusPartialContent || status == http.StatusRequestedRangeNotSatisfiable
		if part && (method != "GET" || !strings.HasPrefix(ranges, "bytes=")) {
			t.Errorf("%d for %s and %q", status, method, ranges)
		}
		// The response has only one tag, because net/http reads only the first of several.
		given := r.Header["If-Range"]
		if status == http.StatusPartialContent && given != nil && !strings.HasPrefix(given[0], etag) && given[0] != "" {
			t.Errorf("a part of an image that is not %q", given[0])
		}
	})
}

func TestOnlyImagesThatMayHaveScriptsAreSandboxed(t *testing.T) {
	h := newHandler(t, 10, 32<<20, "", 0)
	for path, body := range map[string]string{"/a.png": "", "/a.svg": "<svg></svg>"} {
		if body != "" {
			h.Pipeline.Source = anything{image: []byte(body)}
		}
		response := httptest.NewRecorder()
		h.ServeHTTP(response, httptest.NewRequest("GET", path, nil))
		sandboxed := strings.HasPrefix(response.Header().Get("Content-Security-Policy"), "sandbox")
		if response.Code != http.StatusOK || sandboxed != (response.Header().Get("Content-Type") == "image/svg+xml") {
			t.Errorf("%s: %d %v", path, response.Code, response.Header())
		}
	}
}

func TestTheLogHasFailuresOfTheGateAndNotOfClients(t *testing.T) {
	for status, err := range map[int]error{
		http.StatusInternalServerError: errors.New("panic"), http.StatusServiceUnavailable: errFull(t),
		http.StatusBadRequest: nil,
	} {
		var log bytes.Buffer
		h := newHandler(t, 10, 32<<20, "", 0)
		h.Log = slog.New(slog.NewTextHandler(&log, nil))
		response := httptest.NewRecorder()
		if err == nil {
			h.ServeHTTP(response, httptest.NewRequest("GET", "/a.png?w=0", nil))
		} else {
			h.fail(response, httptest.NewRequest("GET", "/a.png", nil), err)
		}
		if response.Code != status || (log.Len() > 0) != (status >= http.StatusInternalServerError) {
			t.Errorf("%d, want %d; logged: %s", response.Code, status, log.Bytes())
		}
	}
}

// errFull is the refusal of a client that uses all memory for responses.
func errFull(t *testing.T) error {
	t.Helper()
	var l responseMemory
	if _, err := l.add("a", &cache.Entry{Body: make([]byte, 10)}, 10, nil); err != nil {
		t.Fatal(err)
	}
	_, err := l.add("a", &cache.Entry{Body: make([]byte, 1)}, 10, nil)
	return err
}

func TestARefusedResponseSaysWhenToRetry(t *testing.T) {
	h := newHandler(t, 10, 32<<20, "", 0)
	response := httptest.NewRecorder()
	h.fail(response, httptest.NewRequest("GET", "/a.png", nil), errFull(t))
	if seconds, err := strconv.Atoi(response.Header().Get("Retry-After")); err != nil || seconds < 1 || seconds > 60 {
		t.Errorf("%d %v", response.Code, response.Header())
	}
}

// deadline is a client that records its write deadline.
type deadline struct {
	*httptest.ResponseRecorder
	at time.Time
}

func (d *deadline) SetWriteDeadline(at time.Time) error {
	d.at = at
	return nil
}

// The slowest allowed client has enough time for the whole image, and at most half a minute more.
func TestClientsHaveTheTimeThatTheirImageNeeds(t *testing.T) {
	property.Check(t, func(rt *rapid.T) {
		h := newHandler(t, rapid.IntRange(0, 3<<20).Draw(rt, "size"), 512<<20, "", 0)
		client := &deadline{ResponseRecorder: httptest.NewRecorder()}
		before := time.Now()
		h.ServeHTTP(client, httptest.NewRequest("GET", "/a.png", nil))
		needed := time.Duration(client.Body.Len()) * time.Second / minRate
		if client.at.Before(before.Add(needed)) || client.at.After(time.Now().Add(needed+30*time.Second)) {
			rt.Errorf("%d bytes: %s", client.Body.Len(), client.at.Sub(before))
		}
	})
}

func TestTheServerWaitsForNobodyForever(t *testing.T) {
	whole := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = w.Write(make([]byte, 1<<20))
	})
	for name, test := range map[string]struct {
		request     string
		reads       bool
		least, most time.Duration
	}{
		"sends no request": {least: time.Second, most: 20 * time.Second},
		"does not end its body": {
			request: "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n", reads: true,
			least: time.Second, most: 20 * time.Second,
		},
		"does not read": {request: "GET / HTTP/1.1\r\nHost: a\r\n\r\n", least: time.Minute, most: 100 * time.Second},
		"keeps its connection": {
			request: "GET / HTTP/1.1\r\nHost: a\r\n\r\n", reads: true,
			least: time.Minute, most: 100 * time.Second,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				listener, ended := make(pipes), make(chan time.Time, 1)
				server := newServer(whole, slog.New(slog.DiscardHandler), 8)
				server.ConnState = func(_ net.Conn, state http.ConnState) {
					if state == http.StateClosed {
						ended <- time.Now()
					}
				}
				go func() { _ = server.Serve(listener) }()
				conn := listener.dial()
				start := time.Now()
				if _, err := io.WriteString(conn, test.request); err != nil {
					t.Fatal(err)
				}
				if test.reads {
					go func() { _, _ = io.Copy(io.Discard, conn) }()
				}
				if took := (<-ended).Sub(start); took < test.least || took > test.most {
					t.Errorf("disconnected after %s", took)
				}
				_ = conn.Close()
				_ = server.Close()
			})
		})
	}
}

// In any order of responses, only a single response can exceed the memory, no client is disconnected or refused while
// memory is left, and an entry counts once.
func TestTheMemoryForResponsesIsUsedButNotExceeded(t *testing.T) {
	const budget = 10
	property.Check(t, func(rt *rapid.T) {
		var l responseMemory
		entries := make([]*cache.Entry, 6)
		for i := range entries {
			entries[i] = &cache.Entry{Body: make([]byte, rapid.SampledFrom([]int{1, 2, 5, 9, 10, 11}).Draw(rt, "size"))}
		}
		open := map[int]*cache.Entry{}
		release := map[int]func(){}
		used := func() (total int64, distinct int) {
			counted := map[*cache.Entry]bool{}
			for _, e := range open {
				if !counted[e] {
					counted[e] = true
					total += int64(len(e.Body))
				}
			}
			return total, len(counted)
		}
		for n := range rapid.IntRange(1, 30).Draw(rt, "responses") {
			e := rapid.SampledFrom(entries).Draw(rt, "entry")
			before := len(open)
			total, _ := used()
			fits := before == 0 || l.keeps(e) || total+int64(len(e.Body)) <= budget
			done, err := l.add(rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "client"), e, budget, func() { delete(open, n) })
			if fits && (err != nil || len(open) != before) {
				rt.Fatalf("refused or disconnected others with %d of %d bytes in use: %v", total, budget, err)
			}
			if err == nil {
				open[n], release[n] = e, done
			}
			if len(open) > 0 && rapid.Bool().Draw(rt, "the oldest ends") {
				oldest := slices.Min(slices.Collect(maps.Keys(open)))
				delete(open, oldest)
				release[oldest]()
			}
			if total, distinct := used(); l.total != total || total > budget && distinct > 1 {
				rt.Fatalf("%d bytes are counted, %d in use by %d entries", l.total, total, distinct)
			}
		}
	})
}

// Entries with the same body and different caching rules count once. A body counts with its capacity, so body[:0]
// counts as six bytes; bodies without memory count as zero.
func TestABodyThatSeveralEntriesHaveCountsOnce(t *testing.T) {
	var l responseMemory
	body := make([]byte, 6)
	for range 2 {
		for _, e := range []*cache.Entry{{Body: body}, {Body: body[:0]}, {Body: []byte{}}, {}} {
			if _, err := l.add("a", e, 10, nil); err != nil || l.total != 6 {
				t.Errorf("%d bytes are counted: %v", l.total, err)
			}
		}
	}
}

// slow is a source that uses the maximum time for each response and body, which is not an image.
type slow struct{}

func (slow) Open(context.Context, source.Request) (*source.Response, error) {
	time.Sleep(source.Timeout - time.Second)
	return &source.Response{Body: io.NopCloser(io.MultiReader(late{}, io.LimitReader(zeros{}, 9<<20), late{})), Length: -1}, nil
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// late is the end of a part of a body.
type late struct{}

func (late) Read([]byte) (int, error) {
	time.Sleep(source.Timeout/2 - time.Second)
	return 0, io.EOF
}

// Every request gets a response, no matter how long it waited in queues and for the source.
func TestAFailureIsSentHoweverLateItIs(t *testing.T) {
	h := newHandler(t, 0, 512<<20, "", 0)
	h.Pipeline.Source = slow{}
	synctest.Test(t, func(t *testing.T) {
		listener := make(pipes)
		server := newServer(h, slog.New(slog.DiscardHandler), 8)
		go func() { _ = server.Serve(listener) }()
		conn, start := listener.dial(), time.Now()
		if _, err := io.WriteString(conn, "GET /a.png HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if took := time.Since(start); err != nil || response.StatusCode < 400 || took < 90*time.Second {
			t.Errorf("%+v %v after %s", response, err, took)
		}
		_ = conn.Close()
		_ = server.Close()
	})
}
