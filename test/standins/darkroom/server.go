package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/darkroom-operator/darkroom-operator/test/standins/server"
)

// serve serves on a port until SIGTERM or SIGINT.
func serve(ctx context.Context, c config, port int, stdout io.Writer) error {
	level, err := logLevel(c.logLevel)
	if err != nil {
		return err // Darkroom hangs
	}
	log := slog.New(slog.NewJSONHandler(stdout, &slog.HandlerOptions{Level: level}))
	source, err := newSource(c)
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
	return server.Serve(ctx, listener, &handler{config: c, source: newLimiter(source, c).get, log: log})
}

// logLevel accepts the names of zap's levels; an empty name means debug.
func logLevel(name string) (level slog.Level, err error) {
	switch strings.ToLower(name) {
	case "":
		return slog.LevelDebug, nil
	case "dpanic", "panic", "fatal":
		return slog.LevelError + 4, nil
	}
	return level, level.UnmarshalText([]byte(name))
}
