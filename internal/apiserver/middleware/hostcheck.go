package middleware

import (
	"net"
	"net/http"
	"strings"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/oidc"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
)

// CheckHost protects a server without authentication against DNS rebinding: another site whose name resolves to
// 127.0.0.1 could otherwise send same-origin requests to it. The host of such requests is the name of the site.
func CheckHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLocalHost(r.Host) {
			problem.Write(w, problem.New(http.StatusMisdirectedRequest,
				"the host of the request must be localhost or a loopback address"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

func isLocalHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return oidc.IsLoopback(strings.Trim(host, "[]"))
}
