// Sources serves sample images for end-to-end tests to read: as a web folder,
// or as an S3 bucket that checks signatures. Both are for tests only.
//
//	sources webfolder --addr :8080
//	sources s3 --addr :9000 --bucket my_photos --region eu-west-2 --access-key KEY --secret-key SECRET
//
// It is one static binary that writes nothing to disk, so that it runs in a pod
// as any user with a read-only root file system. Each request is logged as one line of JSON on stdout, and SIGTERM ends
// the program.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	"github.com/darkroom-operator/darkroom-operator/test/standins/server"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "sources:", err)
		os.Exit(1)
	}
}

// run serves until ctx ends.
func run(ctx context.Context, args []string, stdout io.Writer) error {
	if len(args) == 0 {
		return errors.New("specify a source: webfolder or s3")
	}
	build, ok := map[string]func([]string) (string, http.Handler, error){
		"webfolder": webFolderCommand,
		"s3":        s3Command,
	}[args[0]]
	if !ok {
		return fmt.Errorf("unknown source %q: webfolder or s3", args[0])
	}
	addr, handler, err := build(args[1:])
	if err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		return fmt.Errorf("%s: listen: %w", args[0], err)
	}
	log := slog.New(slog.NewJSONHandler(stdout, nil))
	// Tests that start this with `--addr 127.0.0.1:0` read the port here.
	log.Info("listening", "source", args[0], "addr", listener.Addr().String())
	return server.Serve(ctx, listener, accessLog(log, withHealth(handler)))
}

// withHealth responds to /healthz, which is neither an image nor a bucket.
func withHealth(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/healthz" {
			_, _ = io.WriteString(w, "ok\n")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// accessLog lets a test see the requests. The path is logged as it was sent, because a doubled slash is relevant;
// probes are omitted.
func accessLog(log *slog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		recorder := &statusRecorder{ResponseWriter: w, status: http.StatusOK}
		next.ServeHTTP(recorder, r)
		if r.URL.Path != "/healthz" {
			log.Info("request", "method", r.Method, "host", r.Host, "path", r.URL.EscapedPath(), "status", recorder.status)
		}
	})
}

type statusRecorder struct {
	http.ResponseWriter

	status int
}

func (r *statusRecorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}
