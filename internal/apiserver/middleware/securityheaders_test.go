package middleware

import (
	"net/http"
	"testing"
)

func TestResponsesHaveSecurityHeaders(t *testing.T) {
	t.Parallel()
	got := get(t, SecurityHeaders(respond(http.StatusOK)), "/")
	for name, want := range map[string]string{
		"Content-Security-Policy": noContent, "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
		"Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "Cross-Origin-Resource-Policy": "same-origin",
	} {
		if got.Header().Get(name) != want {
			t.Errorf("%s is %q, want %q", name, got.Header().Get(name), want)
		}
	}
}
