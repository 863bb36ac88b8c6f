package main

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
)

// handler routes requests like Darkroom's router. It is not a ServeMux, because a ServeMux would clean the path, and
// tests cover paths such as `//images`.
type handler struct {
	config config
	source source
	served atomic.Int64
	log    *slog.Logger
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch path := r.URL.Path; {
	case path == "/metrics":
		h.serveMetrics(w) // exists even if METRICS_SYSTEM is unset, but is then empty
	case path != "/ping" && !h.routed(path):
		http.NotFound(w, r)
	case r.Method != http.MethodGet: // not even HEAD
		w.WriteHeader(http.StatusMethodNotAllowed)
	case path == "/ping":
		_, _ = w.Write([]byte("pong"))
	default:
		h.serveImage(w, r)
	}
}

// routed reports whether a path leads to an image. The prefix is compared but not removed. Every path starts with a
// slash, so a prefix without one matches nothing.
func (h *handler) routed(path string) bool {
	return !h.config.restrictsPaths() || strings.HasPrefix(path, h.config.pathPrefix)
}

// serveImage responds to every failure with a status and an empty body. Only the log contains the reason.
func (h *handler) serveImage(w http.ResponseWriter, r *http.Request) {
	img, err := h.source(r.Context(), r.URL.Path)
	if err != nil {
		h.log.Error("get original", "path", r.URL.Path, "err", err)
		w.WriteHeader(statusOf(err))
		return
	}
	if query := r.URL.Query(); len(query) > 0 || len(h.config.defaultParams) > 0 {
		if img, err = process(img, joinParams(h.config.defaultParams, query)); err != nil {
			h.log.Error("process original", "path", r.URL.Path, "err", err)
			w.WriteHeader(http.StatusUnprocessableEntity)
			return
		}
	}
	w.Header().Set("Cache-Control", fmt.Sprintf("public,max-age=%d", h.config.cacheTime))
	w.Header().Set("Vary", "Accept")
	_, _ = w.Write(img)
	h.served.Add(1)
}

// serveMetrics writes one metric in Prometheus' text format. Its name differs from Darkroom's, so that nothing can
// depend on it.
func (h *handler) serveMetrics(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	if h.config.metrics {
		fmt.Fprintf(w, "# TYPE darkroom_standin_images_total counter\ndarkroom_standin_images_total %d\n", h.served.Load())
	}
}
