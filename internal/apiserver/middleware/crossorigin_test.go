package middleware

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestRequestsFromOtherSites(t *testing.T) {
	const host = "darkrooms.example.com"
	handler := CrossOrigin(respond(http.StatusOK))
	for name, c := range map[string]struct {
		method, path string
		headers      []string
		status       int
	}{
		"read from another site":      {"GET", "/darkrooms", []string{"Origin", "https://evil.example.com"}, http.StatusForbidden},
		"write from another site":     {"POST", "/darkrooms", []string{"Origin", "https://evil.example.com", "Content-Type", "application/json"}, http.StatusForbidden},
		"write that a browser marks":  {"DELETE", "/session", []string{"Sec-Fetch-Site", "cross-site"}, http.StatusForbidden},
		"write from a sister site":    {"DELETE", "/session", []string{"Sec-Fetch-Site", "same-site"}, http.StatusForbidden},
		"an origin that is hidden":    {"GET", "/darkrooms", []string{"Origin", "null"}, http.StatusForbidden},
		"an origin that begins alike": {"GET", "/darkrooms", []string{"Origin", "https://" + host + ".evil.example.com"}, http.StatusForbidden},
		"preflight of another site":   {"OPTIONS", "/darkrooms", []string{"Origin", "https://evil.example.com", "Access-Control-Request-Method", "POST"}, http.StatusForbidden},
		"the own page":                {"DELETE", "/session", []string{"Origin", "http://" + host, "Sec-Fetch-Site", "same-origin"}, http.StatusOK},
		"an image of another site":    {"GET", "/darkrooms", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors"}, http.StatusForbidden},
		"an image of a sister site":   {"GET", "/session", []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "no-cors"}, http.StatusForbidden},
		"a window of another site":    {"GET", "/darkrooms", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, http.StatusForbidden},
		"an address that is typed":    {"GET", "/darkrooms", []string{"Sec-Fetch-Site", "none", "Sec-Fetch-Mode", "navigate"}, http.StatusOK},
		"the own page reads":          {"GET", "/darkrooms", []string{"Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "cors"}, http.StatusOK},
		"no browser":                  {"DELETE", "/session", nil, http.StatusOK},
		"a link from another site":    {"GET", "/ui/darkrooms", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			request := httptest.NewRequestWithContext(t.Context(), c.method, "https://"+host+c.path, nil)
			for i := 0; i < len(c.headers); i += 2 {
				request.Header.Set(c.headers[i], c.headers[i+1])
			}
			got := call(handler, request)
			if got.Code != c.status {
				t.Errorf("responds %d %s, want %d", got.Code, got.Body, c.status)
			}
		})
	}
}
