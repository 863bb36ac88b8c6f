package apiserver

import "net/http"

// noContent is the policy of answers that are no pages: nothing in them may load or
// run anything, wherever a browser shows them.
const noContent = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; sandbox"

// securityHeaders defends browsers: against content that is taken for something else
// (nosniff), scripts that got into an answer (CSP), other sites that frame a page and
// have people click in it, addresses that leak in the referrer, and caches that keep
// what only one caller may see. Handlers of pages loosen the policy for what they need.
func securityHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", noContent)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("X-Frame-Options", "DENY")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}
