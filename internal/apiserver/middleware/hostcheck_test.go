package middleware

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestHostsOtherThanThisMachine(t *testing.T) {
	handler := CheckHost(respond(http.StatusOK))
	for host, allowed := range map[string]bool{
		"localhost": true, "localhost:5000": true, "127.0.0.1:5000": true, "127.1.2.3": true, "[::1]:5000": true, "[::1]": true,
		"evil.example.com": false, "localhost.evil.example.com": false, "10.0.0.1:5000": false, "[2001:db8::1]:5000": false, "": false,
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
