package cmd

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// apiServerEnabled reports whether the environment leaves the API server on.
func apiServerEnabled() (bool, error) {
	value := os.Getenv(envAPIServer)
	if value == "" {
		return true, nil
	}
	enabled, err := strconv.ParseBool(value)
	if err != nil {
		return false, fmt.Errorf("%s=%s: must be true or false", envAPIServer, value)
	}
	return enabled, nil
}

// serveHealth responds to the probes of a pod, and to nothing else, until the context ends.
// OLM installs an operator only if the pods of all its Deployments are ready.
func serveHealth(ctx context.Context, address string) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listen at %s: %w", address, err)
	}
	server := &http.Server{Handler: healthOnly(), ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute}
	return (&manager.Server{Name: "health", Server: server, Listener: listener}).Start(ctx)
}

func healthOnly() http.Handler {
	mux := http.NewServeMux()
	for _, path := range []string{"GET /healthz", "GET /readyz"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	}
	return mux
}
