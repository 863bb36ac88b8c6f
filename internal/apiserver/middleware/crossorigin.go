package middleware

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/oidc"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

// CrossOrigin protects signed-in users against requests that other sites send from their
// browser, as marked by Origin or Sec-Fetch-Site. Unlike Go's CrossOriginProtection it also
// rejects reads: another site could not read the response, but would use up the rate limit of
// the user. Links to pages work.
func CrossOrigin(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !sameOrigin(r) || fromOtherSite(r) && !followsLink(r) {
			problem.Write(w, problem.New(http.StatusForbidden, "cross-site request rejected"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// sameOrigin reports whether the request has no Origin, or names this server.
func sameOrigin(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	u, err := url.Parse(origin)
	return origin == "" || err == nil && u.Host == r.Host
}

// fromOtherSite reports whether a page of another site sent the request, according to the
// browser. (none means that the user entered the URL.)
func fromOtherSite(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site != "" && site != "same-origin" && site != "none"
}

// followsLink reports whether the request is a navigation to a page, or back from an OIDC
// issuer.
func followsLink(r *http.Request) bool {
	page := r.URL.Path == "/" || r.URL.Path == oidc.CallbackPath || strings.HasPrefix(r.URL.Path, "/ui/")
	return page && r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate"
}
