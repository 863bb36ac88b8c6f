package middleware

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
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
	if got.Code != status || body.Status != status || body.Detail == "" || got.Header().Get("Content-Type") != "application/problem+json" {
		t.Fatalf("responds %d %s, want a problem with the status %d", got.Code, got.Body, status)
	}
	return body.Detail
}
