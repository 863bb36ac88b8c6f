package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

const (
	// MaxConnections bounds the connections of the public face.
	MaxConnections = 4096
	// drainTimeout is the time for requests that are under way at SIGTERM.
	drainTimeout = 25 * time.Second
	maxHeader    = 16 << 10
)

// NewServer returns a server with time limits and a bounded number of connections.
func NewServer(handler http.Handler, log *slog.Logger) *http.Server {
	connections := &connections{idle: map[net.Conn]struct{}{}, max: MaxConnections}
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       15 * time.Second,
		// The handler extends it for large responses.
		WriteTimeout:   90 * time.Second,
		IdleTimeout:    75 * time.Second,
		MaxHeaderBytes: maxHeader,
		ConnState:      connections.changed,
		ErrorLog:       slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// connections closes idle connections when there are too many, and new ones if none is idle.
type connections struct {
	max int

	mu   sync.Mutex
	open int
	idle map[net.Conn]struct{}
}

func (c *connections) changed(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateNew:
		c.open++
		// A connection that has not sent a request is idle too.
		c.idle[conn] = struct{}{}
		if c.open > c.max {
			for other := range c.idle {
				delete(c.idle, other)
				_ = other.Close()
				break
			}
		}
	case http.StateActive:
		delete(c.idle, conn)
	case http.StateIdle:
		c.idle[conn] = struct{}{}
	case http.StateClosed, http.StateHijacked:
		c.open--
		delete(c.idle, conn)
	}
}

// Health serves /healthz, /readyz and /metrics, on a port that is not public.
type Health struct {
	metrics  http.Handler
	ping     func(context.Context) error
	started  atomic.Bool
	draining atomic.Bool
}

// NewHealth returns the health of a gate. It is ready once Darkroom has responded to a
// ping, and stays ready while Darkroom restarts, because cached images are still served.
func NewHealth(metrics *Metrics, ping func(context.Context) error) *Health {
	return &Health{metrics: promhttp.HandlerFor(metrics.Registry, promhttp.HandlerOpts{}), ping: ping}
}

// Drain makes the gate not ready.
func (h *Health) Drain() { h.draining.Store(true) }

func (h *Health) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/healthz":
		_, _ = w.Write([]byte("ok\n"))
	case "/readyz":
		h.ready(w, r)
	case "/metrics":
		h.metrics.ServeHTTP(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (h *Health) ready(w http.ResponseWriter, r *http.Request) {
	if h.draining.Load() {
		http.Error(w, "draining", http.StatusServiceUnavailable)
		return
	}
	if !h.started.Load() {
		ctx, cancel := context.WithTimeout(r.Context(), time.Second)
		defer cancel()
		if err := h.ping(ctx); err != nil {
			http.Error(w, "waiting for Darkroom", http.StatusServiceUnavailable)
			return
		}
		h.started.Store(true)
	}
	_, _ = w.Write([]byte("ok\n"))
}

// Face is a server with its listener.
type Face struct {
	Name     string
	Server   *http.Server
	Listener net.Listener
}

// Run serves all faces until ctx is done. It then drains the first one, the public face,
// before it closes the others: requests that are under way need them.
func Run(ctx context.Context, drain func(), faces ...Face) error {
	failed := make(chan error, len(faces))
	for _, face := range faces {
		go func() {
			if err := face.Server.Serve(face.Listener); !errors.Is(err, http.ErrServerClosed) {
				failed <- fmt.Errorf("serve %s: %w", face.Name, err)
			}
		}()
	}
	var result error
	select {
	case result = <-failed:
	case <-ctx.Done():
		drain()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	for _, face := range faces {
		if err := face.Server.Shutdown(ctx); err != nil {
			result = errors.Join(result, fmt.Errorf("drain %s: %w", face.Name, err))
		}
	}
	return result
}
