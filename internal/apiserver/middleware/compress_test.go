package middleware

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func isStream(r *http.Request) bool { return r.URL.Path == "/stream" }

func TestWhichResponsesAreCompressed(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("darkroom ", 1000)
	for name, c := range map[string]struct {
		method, accept, contentType, body string
		compressed                        bool
	}{
		"a large list":         {"GET", "gzip", "application/json", large, true},
		"a problem":            {"GET", "gzip", "application/problem+json", large, true},
		"a small response":     {"GET", "gzip", "application/json", "{}", false},
		"another encoding":     {"GET", "br", "application/json", large, false},
		"gzip is refused":      {"GET", "gzip;q=0", "application/json", large, false},
		"an image":             {"GET", "gzip", "image/png", large, false},
		"no content type":      {"GET", "gzip", "", large, false},
		"just below the limit": {"GET", "gzip", "application/json", strings.Repeat("x", minCompressed-1), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			handler := Compress(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.contentType)
				w.WriteHeader(http.StatusAccepted)
				// In two writes, as an encoder may do.
				for _, part := range []string{c.body[:len(c.body)/2], c.body[len(c.body)/2:]} {
					if _, err := io.WriteString(w, part); err != nil {
						t.Error(err)
					}
				}
			}), isStream)
			request := httptest.NewRequestWithContext(t.Context(), c.method, "/", nil)
			request.Header.Set("Accept-Encoding", c.accept)
			got := call(handler, request)
			if compressed := got.Header().Get("Content-Encoding") == "gzip"; compressed != c.compressed {
				t.Fatalf("is compressed: %t", compressed)
			}
			var body io.Reader = got.Body
			if c.compressed {
				if got.Body.Len() > len(c.body)/2 || got.Header().Get("Vary") != "Accept-Encoding" {
					t.Errorf("%d bytes, Vary: %s", got.Body.Len(), got.Header().Get("Vary"))
				}
				unpacked, err := gzip.NewReader(got.Body)
				if err != nil {
					t.Fatal(err)
				}
				body = unpacked
			}
			if text, err := io.ReadAll(body); err != nil || string(text) != c.body {
				t.Errorf("the body is %q, %v", text, err)
			}
			if got.Code != http.StatusAccepted {
				t.Errorf("the status is %d", got.Code)
			}
		})
	}
}

func TestStreamsAreFlushed(t *testing.T) {
	t.Parallel()
	handler := Compress(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
	}), isStream)
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/stream", nil)
	request.Header.Set("Accept-Encoding", "gzip")
	if got := call(handler, request); !got.Flushed || got.Header().Get("Content-Encoding") != "" {
		t.Errorf("the event waits for the next one; the header is %v", got.Header())
	}
}
