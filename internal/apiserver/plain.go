package apiserver

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// reply answers with a body that is ready.
func reply(w http.ResponseWriter, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	// An error means that the client is gone.
	_, _ = w.Write(body)
}

// ready reports whether the cache is synchronized. Lists would be incomplete before.
func (s *Server) ready(w http.ResponseWriter, _ *http.Request) {
	select {
	case <-s.stopping:
		unavailable("the server is shutting down").write(w)
		return
	default:
	}
	if !s.synced() {
		unavailable("the cache is not synchronized yet").write(w)
		return
	}
	reply(w, "text/plain", []byte("ok\n"))
}

// metricsHandler serves the metrics to callers who may get /metrics.
func (s *Server) metricsHandler() http.Handler {
	metrics := promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := s.withAddress(r)
		who, leave, err := s.enter(ctx, r, false) //nolint:contextcheck // derived from the request's context
		if err == nil {
			defer leave()
			err = s.access.require(ctx, who, right{verb: "get", path: "/metrics"}) //nolint:contextcheck // derived from the request's context
		}
		if err != nil {
			asProblem(ctx, err).write(w) //nolint:contextcheck // derived from the request's context
			return
		}
		metrics.ServeHTTP(w, r)
	})
}
