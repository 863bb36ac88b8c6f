package middleware

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/oidc"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

// CrossOrigin protects signed-in users against requests that other sites send from the user's browser, according to
// Origin or Sec-Fetch-Site. Unlike Go's CrossOriginProtection, it also rejects reads: other sites could not read the
// response, but could use up the rate limit of the user. Links to the page work.
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

// fromOtherSite reports whether the browser attributes the request to another site. The value none means that the user
// entered the URL.
func fromOtherSite(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site != "" && site != "same-origin" && site != "none"
}

// followsLink reports whether the request is a navigation to the page, or back from an OIDC issuer.
func followsLink(r *http.Request) bool {
	page := r.URL.Path == "/" || r.URL.Path == oidc.CallbackPath || strings.HasPrefix(r.URL.Path, "/ui/")
	return page && r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate"
}
