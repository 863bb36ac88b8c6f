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

// newServer returns a server with time limits and a bounded number of connections.
func newServer(handler http.Handler, log *slog.Logger) *http.Server {
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
	http.ServeMux
	ping     func(context.Context) error
	started  atomic.Bool
	draining atomic.Bool
}

// NewHealth returns the health of a gate. It is ready once Darkroom has responded to a
// ping, and stays ready while Darkroom restarts, because cached images are still served.
func NewHealth(metrics *Metrics, ping func(context.Context) error) *Health {
	h := &Health{ping: ping}
	h.Handle("/metrics", promhttp.HandlerFor(metrics.Registry, promhttp.HandlerOpts{}))
	h.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	h.HandleFunc("/readyz", h.ready)
	return h
}

// Drain makes the gate not ready.
func (h *Health) Drain() { h.draining.Store(true) }

func (h *Health) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), time.Second)
	defer cancel()
	switch {
	case h.draining.Load():
		http.Error(w, "draining", http.StatusServiceUnavailable)
	case !h.started.Load() && h.ping(ctx) != nil:
		http.Error(w, "waiting for Darkroom", http.StatusServiceUnavailable)
	default:
		h.started.Store(true)
		_, _ = w.Write([]byte("ok\n"))
	}
}

// Face is what the gate serves at an address.
type Face struct {
	Name, Address string
	Handler       http.Handler
}

// Run serves all faces until ctx is done. It then drains the first one, the public face,
// before it closes the others: requests that are under way need them.
func Run(ctx context.Context, log *slog.Logger, drain func(), faces ...Face) (err error) {
	failed := make(chan error, len(faces))
	var servers []*http.Server
	for _, face := range faces {
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", face.Address)
		if err != nil {
			return fmt.Errorf("listen for %s: %w", face.Name, err)
		}
		server := newServer(face.Handler, log)
		servers = append(servers, server)
		go func() {
			if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
				failed <- fmt.Errorf("serve %s: %w", face.Name, err)
			}
		}()
	}
	select {
	case err = <-failed:
	case <-ctx.Done():
		drain()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	for _, server := range servers {
		err = errors.Join(err, server.Shutdown(ctx))
	}
	return err
}
