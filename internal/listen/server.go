package listen

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"
)

const (
	// headerTimeout and readTimeout limit the time to read a request, and idleTimeout the time that a connection waits for
	// the next request.
	headerTimeout = 5 * time.Second
	readTimeout   = 10 * time.Second
	writeTimeout  = 60 * time.Second
	idleTimeout   = time.Minute
	// maxHeader is the maximum size of headers in bytes. Tokens of callers are shorter.
	maxHeader = 8 << 10
	// maxConnections is the maximum number of connections. Kubelets and scrapers need only a few.
	maxConnections = 128
)

// Small listens on an address for a server with few requests, such as health or metrics.
func Small(ctx context.Context, address string) (net.Listener, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen at %s: %w", address, err)
	}
	return Bound(listener, Limits{All: maxConnections, Unknown: maxConnections}), nil
}

// SmallServer returns the server for a listener created by Small.
func SmallServer(handler http.Handler) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
	}
}
