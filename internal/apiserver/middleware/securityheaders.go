package middleware

import "net/http"

// noContent is the policy of responses other than the page.
const noContent = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; sandbox"

// SecurityHeaders protects browsers against content sniffing, injected scripts (CSP), framing by other sites, URLs in
// referrers, shared caches of private responses, and plain HTTP after TLS (HSTS). The page sets its own policy.
func SecurityHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", noContent)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("X-Frame-Options", "DENY")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cache-Control", "no-store")
		if r.TLS != nil {
			// Behind a proxy that terminates TLS, the proxy sets it.
			header.Set("Strict-Transport-Security", "max-age=31536000")
		}
		next.ServeHTTP(w, r)
	})
}
