package apiserver

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/auth"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/middleware"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/reply"
)

// ready returns an error until the cache is synchronized, because lists would be incomplete.
func (s *Server) ready(w http.ResponseWriter, _ *http.Request) {
	select {
	case <-s.stopping:
		problem.Write(w, problem.Unavailable("the server is shutting down"))
		return
	default:
	}
	if !s.synced() {
		problem.Write(w, errNotSynced())
		return
	}
	reply.Send(w, "text/plain", []byte("ok\n"))
}

// sends responds with a constant body.
func sends(contentType string, body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { reply.Send(w, contentType, body) }
}

func errNotSynced() *problem.Details {
	return problem.New(http.StatusServiceUnavailable, "the cache is not synchronized yet; try again").
		WithHeader("Retry-After", "1")
}

// metricsHandler serves the metrics to callers who may get /metrics.
func (s *Server) metricsHandler() http.Handler {
	metrics := promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		who, leave, err := s.enter(ctx, w, r, &route{})
		if err == nil {
			defer leave()
			err = s.auth.Access.Require(auth.WithCaller(ctx, who), auth.Right{Verb: "get", Path: "/metrics"})
		}
		if err != nil {
			middleware.Refuse(ctx, w, err)
			return
		}
		metrics.ServeHTTP(w, r)
	})
}
