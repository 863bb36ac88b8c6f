package apiserver

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/auth"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/middleware"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
)

// newHandler wraps the routes in the middlewares, innermost first.
func (s *Server) newHandler() (http.Handler, error) {
	mux, routes := http.NewServeMux(), middleware.Routes{}
	api := newAPI(mux, s.options.Version)
	s.decoder = wire.NewDecoder()
	for _, r := range s.routes() {
		s.register(api, &r)
		routes[r.method+" "+r.path] = middleware.Route{Streams: r.streams}
	}
	version, err := json.Marshal(map[string]string{"version": s.options.Version})
	if err != nil {
		return nil, fmt.Errorf("encode version: %w", err)
	}
	page, err := newPage(s.options.Page)
	if err != nil {
		return nil, err
	}
	for _, r := range s.plainRoutes(version, page) {
		mux.Handle(r.pattern, r.handler)
		routes[r.pattern] = middleware.Route{Probe: r.probe}
	}
	handler := http.MaxBytesHandler(middleware.Router(mux, routes), maxBody)
	handler, err = middleware.ClientAddress(s.options.TrustedProxies, handler)
	if err != nil {
		return nil, err
	}
	handler = middleware.CrossOrigin(handler)
	if s.options.Auth == auth.Kubeconfig {
		handler = middleware.CheckHost(handler)
	}
	handler = middleware.RecoverPanic(s.log, middleware.SecurityHeaders(handler))
	return middleware.Observe(s.log, s.metrics.requests, routes, handler), nil
}
