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
	"golang.org/x/sync/errgroup"

	"github.com/darkroom-operator/darkroom-operator/gate/pipeline"
)

const (
	// maxConnections is the maximum number of connections of each face.
	maxConnections = 4096
	// drainTimeout is the time limit for requests in progress after SIGTERM.
	drainTimeout = 25 * time.Second
)

// newServer returns a server with timeouts and a limited number of connections.
func newServer(handler http.Handler, log *slog.Logger, maxConnections int) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       15 * time.Second,
		// The handler extends it for large responses.
		WriteTimeout:   90 * time.Second,
		IdleTimeout:    75 * time.Second,
		MaxHeaderBytes: 16 << 10,
		ConnState:      (&connections{max: maxConnections, since: map[net.Conn]time.Time{}}).changed,
		ErrorLog:       slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// slowRequest is the time after which the connection of a request may be closed in favor of a new one.
const slowRequest = 30 * time.Second

// connections closes the connection that has been idle for longest when there are too many, or the new one if none is
// idle. A connection without a complete request is idle.
type connections struct {
	max int

	mu sync.Mutex
	// since contains the time from which each connection may be closed.
	since map[net.Conn]time.Time
}

func (c *connections) changed(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	switch state {
	case http.StateNew:
		if len(c.since) >= c.max {
			oldest, at := conn, now
			for other, since := range c.since {
				if since.Before(at) {
					oldest, at = other, since
				}
			}
			delete(c.since, oldest)
			_ = oldest.Close()
		}
		c.since[conn] = now
	case http.StateActive: // a complete request has been read
		c.since[conn] = now.Add(slowRequest)
	case http.StateIdle:
		c.since[conn] = now
	case http.StateClosed, http.StateHijacked:
		delete(c.since, conn)
	}
}

// NewHealth serves /healthz, /readyz and /metrics on an internal port. The gate becomes ready when Darkroom has
// responded to a ping, and stays ready while Darkroom restarts, because it still serves cached images.
func NewHealth(metrics *pipeline.Metrics, ping func(context.Context) bool) http.Handler {
	var started atomic.Bool
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(metrics.Registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("/healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), time.Second)
		defer cancel()
		if !started.Load() && !ping(ctx) {
			http.Error(w, "waiting for Darkroom", http.StatusServiceUnavailable)
			return
		}
		started.Store(true)
		_, _ = w.Write([]byte("ok\n"))
	})
	return mux
}

// Face is a handler with the address at which it is served.
type Face struct {
	Name, Address string
	Handler       http.Handler
}

// Run serves all faces until ctx is done. It drains the first face, which is public, before it closes the others,
// because requests in progress need them. By then Kubernetes has removed the pod from the Service.
func Run(ctx context.Context, log *slog.Logger, faces ...Face) error {
	group, ctx := errgroup.WithContext(ctx)
	var servers []*http.Server
	for _, face := range faces {
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", face.Address)
		if err != nil {
			return fmt.Errorf("listen for %s: %w", face.Name, err)
		}
		server := newServer(face.Handler, log, maxConnections)
		servers = append(servers, server)
		group.Go(func() error {
			if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
				return fmt.Errorf("serve %s: %w", face.Name, err)
			}
			return nil
		})
	}
	<-ctx.Done()
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	var err error
	for _, server := range servers {
		err = errors.Join(err, server.Shutdown(drain))
	}
	return errors.Join(err, group.Wait())
}
