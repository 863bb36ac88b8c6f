package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// serve answers on port until SIGTERM or SIGINT. It then closes the listener at
// once, while requests under way finish, however long they take: a pod needs a
// pause before the signal for Services to forget it.
func serve(ctx context.Context, c config, port int, stdout io.Writer) error {
	level, err := logLevel(c.logLevel)
	if err != nil {
		return err // Darkroom hangs
	}
	log := slog.New(slog.NewJSONHandler(stdout, &slog.HandlerOptions{Level: level}))
	h, err := newHandler(c, log)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	listener, err := net.Listen("tcp", net.JoinHostPort("", strconv.Itoa(port)))
	if err != nil {
		return fmt.Errorf("listen on port %d: %w", port, err)
	}
	log.Info("stand-in for Darkroom listens", "port", port, "kind", c.kind)
	return serveUntil(ctx, listener, h)
}

func serveUntil(ctx context.Context, listener net.Listener, h http.Handler) error {
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	if err := server.Shutdown(context.WithoutCancel(ctx)); err != nil {
		return fmt.Errorf("shut down: %w", err)
	}
	if err := <-failed; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

func newHandler(c config, log *slog.Logger) (http.Handler, error) {
	source, err := newSource(c)
	if err != nil {
		return nil, err
	}
	return &handler{
		config: c,
		source: newLimiter(source, kindOf(c.kind), c.hystrix),
		log:    log,
	}, nil
}

// logLevel knows the names of zap's levels; none means debug.
func logLevel(name string) (level slog.Level, err error) {
	switch strings.ToLower(name) {
	case "":
		return slog.LevelDebug, nil
	case "dpanic", "panic", "fatal":
		return slog.LevelError + 4, nil
	}
	return level, level.UnmarshalText([]byte(name))
}
