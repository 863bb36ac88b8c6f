package apiserver

import (
	"net"
	"net/http"
	"strings"
)

// checkHost defends a server that asks nobody for a token against DNS rebinding: a
// page of some other site whose name suddenly means 127.0.0.1 would reach it as its
// own. Such requests still carry the site's name as host.
func checkHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLocalHost(r.Host) {
			newProblem(http.StatusMisdirectedRequest, "this server is reached as localhost or 127.0.0.1 only").write(w)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func isLocalHost(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.Trim(host, "[]")
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}
