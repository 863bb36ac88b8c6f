package middleware

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestRequestsWithoutARoute(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	mux.Handle("GET /darkrooms", respond(http.StatusOK))
	mux.Handle("POST /darkrooms", respond(http.StatusCreated))
	handler := UnknownRoute(mux)

	if got := get(t, handler, "/darkrooms"); got.Code != http.StatusOK {
		t.Errorf("a route responds %d", got.Code)
	}
	wantProblem(t, get(t, handler, "/nothing"), http.StatusNotFound)

	got := call(handler, httptest.NewRequestWithContext(t.Context(), http.MethodPut, "/darkrooms", nil))
	detail := wantProblem(t, got, http.StatusMethodNotAllowed)
	for _, method := range []string{"GET", "POST"} {
		if !strings.Contains(detail, method) || !strings.Contains(got.Header().Get("Allow"), method) {
			t.Errorf("does not name %s: %s, Allow: %s", method, detail, got.Header().Get("Allow"))
		}
	}
}
