package apiserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/auth"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/middleware"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/reply"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
)

// newHandler wraps the routes in the middlewares, from the innermost to the outermost.
func (s *Server) newHandler() (http.Handler, error) {
	mux := http.NewServeMux()
	api := newAPI(mux, s.options.Version)
	s.register(api)
	if err := s.registerPlain(mux, api); err != nil {
		return nil, err
	}
	handler := http.MaxBytesHandler(middleware.Compress(middleware.UnknownRoute(mux), isPiecewise), maxBody)
	handler, err := middleware.ClientAddress(s.options.TrustedProxies, handler)
	if err != nil {
		return nil, err
	}
	handler = middleware.CrossOrigin(handler)
	if s.options.Auth == auth.Kubeconfig {
		handler = middleware.CheckHost(handler)
	}
	handler = middleware.RecoverPanic(s.log, middleware.SecurityHeaders(handler))
	return middleware.Observe(s.log, s.metrics.requests,
		middleware.Routes{Stream: streamRoute, Ready: readyRoute}, handler), nil
}

// Document returns the OpenAPI document of servers of a version, which serve it at /openapi.json.
func Document(version string) ([]byte, error) {
	api := newAPI(http.NewServeMux(), version)
	(&Server{}).register(api)
	return encode(api)
}

func encode(api huma.API) ([]byte, error) {
	if err := wire.Describe(api.OpenAPI().Components.Schemas); err != nil {
		return nil, err
	}
	document, err := json.MarshalIndent(api.OpenAPI(), "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode OpenAPI document: %w", err)
	}
	return document, nil
}

// isPiecewise reports whether the response to a request is sent piece by piece: live events
// and the log of a pod.
func isPiecewise(r *http.Request) bool {
	return r.URL.Path == streamPath || strings.HasSuffix(r.URL.Path, "/log")
}

// registerPlain adds the routes that are not part of the API.
func (s *Server) registerPlain(mux *http.ServeMux, api huma.API) error {
	document, err := encode(api)
	if err != nil {
		return err
	}
	version, err := json.Marshal(map[string]string{"version": s.options.Version})
	if err != nil {
		return fmt.Errorf("encode version: %w", err)
	}
	page, err := newPage(s.options.Page)
	if err != nil {
		return err
	}
	page.register(mux)
	s.auth.Register(mux)
	mux.HandleFunc("GET /openapi.json", func(w http.ResponseWriter, _ *http.Request) {
		reply.Send(w, "application/vnd.oai.openapi+json", document)
	})
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter,
		_ *http.Request,
	) {
		reply.Send(w, "text/plain", []byte("ok\n"))
	})
	mux.HandleFunc(readyRoute, s.ready)
	mux.HandleFunc("GET /version", func(w http.ResponseWriter, _ *http.Request) {
		reply.Send(w, reply.TypeJSON, version)
	})
	mux.Handle("GET /metrics", s.metricsHandler())
	return nil
}
