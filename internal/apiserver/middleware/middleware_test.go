package middleware

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
)

// respond returns a handler that responds with a status.
func respond(status int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
}

func call(handler http.Handler, request *http.Request) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, request)
	return w
}

func get(t *testing.T, handler http.Handler, path string) *httptest.ResponseRecorder {
	t.Helper()
	return call(handler, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
}

// wantProblem checks that a response is a problem, and returns its detail.
func wantProblem(t *testing.T, got *httptest.ResponseRecorder, status int) string {
	t.Helper()
	var body struct {
		Status int    `json:"status"`
		Detail string `json:"detail"`
	}
	if err := json.Unmarshal(got.Body.Bytes(), &body); err != nil {
		t.Fatalf("%d %s is not a problem: %v", got.Code, got.Body, err)
	}
	if got.Code != status || body.Status != status || body.Detail == "" ||
		got.Header().Get("Content-Type") != "application/problem+json" {
		t.Fatalf("got status %d %s, want a problem with status %d", got.Code, got.Body, status)
	}
	return body.Detail
}

func TestRequestsFromOtherSites(t *testing.T) {
	const host = "darkrooms.example.com"
	handler := CrossOrigin(respond(http.StatusOK))
	for name, c := range map[string]struct {
		method, path string
		headers      []string
		status       int
	}{
		"read from another site": {
			"GET", "/darkrooms",
			[]string{"Origin", "https://evil.example.com"},
			http.StatusForbidden,
		},
		"write from another site": {
			"POST", "/darkrooms",
			[]string{"Origin", "https://evil.example.com", "Content-Type", "application/json"},
			http.StatusForbidden,
		},
		"write that a browser marks": {"DELETE", "/session", []string{"Sec-Fetch-Site", "cross-site"}, http.StatusForbidden},
		"write from a sister site":   {"DELETE", "/session", []string{"Sec-Fetch-Site", "same-site"}, http.StatusForbidden},
		"an origin that is hidden":   {"GET", "/darkrooms", []string{"Origin", "null"}, http.StatusForbidden},
		"an origin that begins alike": {
			"GET", "/darkrooms",
			[]string{"Origin", "https://" + host + ".evil.example.com"},
			http.StatusForbidden,
		},
		"preflight of another site": {
			"OPTIONS", "/darkrooms",
			[]string{"Origin", "https://evil.example.com", "Access-Control-Request-Method", "POST"},
			http.StatusForbidden,
		},
		"the own page": {
			"DELETE", "/session",
			[]string{"Origin", "http://" + host, "Sec-Fetch-Site", "same-origin"},
			http.StatusOK,
		},
		"an image of another site": {
			"GET", "/darkrooms",
			[]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"},
			http.StatusForbidden,
		},
		"an image of a sister site": {
			"GET", "/session",
			[]string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "no-cors"},
			http.StatusForbidden,
		},
		"a window of another site": {
			"GET", "/darkrooms",
			[]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"},
			http.StatusForbidden,
		},
		"an address that is typed": {
			"GET", "/darkrooms",
			[]string{"Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate"},
			http.StatusOK,
		},
		"the own page reads": {
			"GET", "/darkrooms",
			[]string{"Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "cors"},
			http.StatusOK,
		},
		"no browser": {"DELETE", "/session", nil, http.StatusOK},
		"a link from another site": {
			"GET", "/ui/darkrooms",
			[]string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"},
			http.StatusOK,
		},
	} {
		t.Run(name, func(t *testing.T) {
			request := httptest.NewRequestWithContext(t.Context(), c.method, "https://"+host+c.path, nil)
			for i := 0; i < len(c.headers); i += 2 {
				request.Header.Set(c.headers[i], c.headers[i+1])
			}
			got := call(handler, request)
			if got.Code != c.status {
				t.Errorf("got status %d %s, want %d", got.Code, got.Body, c.status)
			}
		})
	}
}

func TestHostsOtherThanThisMachine(t *testing.T) {
	handler := CheckHost(respond(http.StatusOK))
	for host, allowed := range map[string]bool{
		"localhost": true, "localhost:5000": true, "127.0.0.1:5000": true, "127.1.2.3": true,
		"[::1]:5000": true, "[::1]": true,
		"evil.example.com": false, "localhost.evil.example.com": false, "10.0.0.1:5000": false,
		"[2001:db8::1]:5000": false, "": false,
	} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/darkrooms", nil)
		request.Host = host
		got := call(handler, request)
		if !allowed {
			wantProblem(t, got, http.StatusMisdirectedRequest)
		} else if got.Code != http.StatusOK {
			t.Errorf("%q gets %d", host, got.Code)
		}
	}
}

func TestPanicsAreLoggedAndNotDisclosed(t *testing.T) {
	var logged strings.Builder
	log := funcr.New(func(_, args string) { logged.WriteString(args) }, funcr.Options{})
	handler := RecoverPanic(log, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "3")
		panic("secret thing")
	}))
	got := get(t, handler, "/darkrooms")
	if detail := wantProblem(t, got, http.StatusInternalServerError); strings.Contains(detail, "secret") {
		t.Errorf("the response discloses the error: %s", detail)
	}
	if length := got.Header().Get("Content-Length"); length != "" {
		t.Errorf("the length belongs to another body: %s", length)
	}
	for _, want := range []string{"secret thing", "/darkrooms", "TestPanicsAreLoggedAndNotDisclosed"} {
		if !strings.Contains(logged.String(), want) {
			t.Errorf("the log lacks %s: %s", want, &logged)
		}
	}
}
