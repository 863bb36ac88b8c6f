// Command web is what the integration test runs in pods: a server that says
// who it is, how it is confined, and what it reaches.
package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) != 2 || os.Args[1] != "server" {
		fmt.Fprintln(os.Stderr, "usage: web server")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	mux := http.NewServeMux()
	mux.HandleFunc("/", about)
	mux.HandleFunc("/api-server", reachAPIServer)
	mux.HandleFunc("/reach", reach)
	server := &http.Server{Addr: ":8080", Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() {
		<-ctx.Done()
		limit, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = server.Shutdown(limit)
	}()
	fmt.Println("listening on", server.Addr)
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// about tells the user, and what the kernel thinks of this process.
func about(w http.ResponseWriter, _ *http.Request) {
	fmt.Fprintf(w, "uid: %d\n", os.Getuid())
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "Seccomp:") || strings.HasPrefix(line, "CapBnd:") {
			fmt.Fprint(w, line)
		}
	}
	fmt.Fprintf(w, "writable: %v\n", os.WriteFile("/written", nil, 0o644) == nil)
}

func reachAPIServer(w http.ResponseWriter, r *http.Request) {
	dial(w, r, net.JoinHostPort(os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")))
}

func reach(w http.ResponseWriter, r *http.Request) { dial(w, r, r.URL.Query().Get("address")) }

func dial(w http.ResponseWriter, r *http.Request, address string) {
	dialer := net.Dialer{Timeout: 5 * time.Second}
	conn, err := dialer.DialContext(r.Context(), "tcp", address)
	if err != nil {
		fmt.Fprintln(w, err)
		return
	}
	conn.Close()
	fmt.Fprintln(w, "reached", address)
}
