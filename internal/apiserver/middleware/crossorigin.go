package middleware

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/oidc"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

// CrossOrigin protects signed-in users against requests that other sites send from their
// browser. Go's CrossOriginProtection checks writes. Reads are rejected if Origin or
// Sec-Fetch-Site shows another site: it could not read the response, but would use up the
// rate limit of the user. Links to pages work. Allowed origins get CORS headers, but no
// cookies: they send a token.
func CrossOrigin(allowed []string, next http.Handler) (http.Handler, error) {
	protection := http.NewCrossOriginProtection()
	for _, origin := range allowed {
		if err := protection.AddTrustedOrigin(origin); err != nil {
			return nil, fmt.Errorf("allow origin %s: %w", origin, err)
		}
	}
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { refuseOrigin(w) }))
	protected := protection.Handler(next)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Origin")
		origin := r.Header.Get("Origin")
		switch {
		case origin != "" && slices.Contains(allowed, origin):
			w.Header().Set("Access-Control-Allow-Origin", origin)
			w.Header().Set("Access-Control-Expose-Headers", "ETag, Location, Retry-After")
			w.Header().Set("Cross-Origin-Resource-Policy", "cross-origin")
			if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
				preflight(w)
				return
			}
		case origin != "" && !sameOrigin(origin, r.Host):
			refuseOrigin(w)
			return
		case origin == "" && fromOtherSite(r) && !followsLink(r):
			refuseOrigin(w)
			return
		}
		protected.ServeHTTP(w, r)
	}), nil
}

// fromOtherSite reports whether a page of another site sent the request, according to the
// browser. (none means that the user entered the URL.)
func fromOtherSite(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site == "cross-site" || site == "same-site"
}

// followsLink reports whether the request is a navigation to a page, or back from an OIDC
// issuer.
func followsLink(r *http.Request) bool {
	page := r.URL.Path == "/" || r.URL.Path == oidc.CallbackPath || strings.HasPrefix(r.URL.Path, "/ui/")
	return page && r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate"
}

// preflight answers a CORS preflight request.
func preflight(w http.ResponseWriter) {
	w.Header().Set("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE")
	w.Header().Set("Access-Control-Allow-Headers", "Authorization, Content-Type, If-Match, If-None-Match, Last-Event-ID")
	w.Header().Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
}

func sameOrigin(origin, host string) bool {
	u, err := url.Parse(origin)
	return err == nil && u.Host == host
}

func refuseOrigin(w http.ResponseWriter) {
	problem.Write(w, problem.New(http.StatusForbidden, "cross-site request rejected; allow the site with --allowed-origin"))
}
