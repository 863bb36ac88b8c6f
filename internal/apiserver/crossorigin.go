package apiserver

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// crossOrigin defends people who are signed in against other sites that have their
// browser send requests. Requests that change something are judged by Go's
// CrossOriginProtection. Those that read are refused if the browser says that they come
// from elsewhere, by Origin or, for images and scripts of another site, Sec-Fetch-Site:
// the site could not read the answer, but would spend the rate limit of the person.
// Links to pages work. Allowed origins get the headers that let their pages read the answers,
// but no cookies: they bring a token of their own.
func crossOrigin(allowed []string, next http.Handler) (http.Handler, error) {
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

// fromOtherSite reports whether a browser says that a page of another site has it send
// the request. (none means that a person has typed the address.)
func fromOtherSite(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site == "cross-site" || site == "same-site"
}

// followsLink reports whether a person goes to one of the pages.
func followsLink(r *http.Request) bool {
	page := r.URL.Path == "/" || r.URL.Path == "/docs" || strings.HasPrefix(r.URL.Path, "/ui/")
	return page && r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate"
}

// preflight answers a browser that asks before it sends.
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
	newProblem(http.StatusForbidden, "requests from pages of other sites are refused; --allowed-origin lets a site in").write(w)
}
