// Gate is a reverse proxy for one Darkroom. It checks requests, fetches and checks originals,
// lets Darkroom transform them within its memory, and caches the results.
//
// A request passes request (canonical form and limits), cache, flight (one fetch for all who
// ask), source, original (size and type), admission, shrink and darkroom; serve puts these
// packages together.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/darkroom-operator/darkroom-operator/gate/cache"
	"github.com/darkroom-operator/darkroom-operator/gate/config"
	"github.com/darkroom-operator/darkroom-operator/gate/darkroom"
	"github.com/darkroom-operator/darkroom-operator/gate/serve"
)

// version is the content of VERSION, set by the linker.
var version = "dev"

func main() {
	if len(os.Args) > 1 && os.Args[1] == "version" {
		fmt.Println(version)
		return
	}
	if err := run(context.Background(), os.LookupEnv); err != nil {
		fmt.Fprintln(os.Stderr, "gate:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, lookup func(string) (string, bool)) error {
	c, err := config.Read(lookup)
	if err != nil {
		return err
	}
	// Beyond 90 % of the limit, memory is collected more often instead of being exceeded.
	debug.SetMemoryLimit(c.Memory / 10 * 9)
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	log := slog.New(slog.NewJSONHandler(os.Stdout, &slog.HandlerOptions{Level: c.LogLevel}))

	transformer := darkroom.New(c.Darkroom)
	metrics := serve.NewMetrics(version)
	handler, err := newHandler(c, transformer, metrics, log)
	if err != nil {
		return err
	}
	health := serve.NewHealth(metrics, transformer.Ping)
	var faces []serve.Face
	for _, face := range []struct {
		name, address string
		handler       http.Handler
	}{{"images", c.Address, handler}, {"Darkroom", c.Inner, transformer}, {"metrics", c.Metrics, health}} {
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", face.address)
		if err != nil {
			return fmt.Errorf("listen for %s: %w", face.name, err)
		}
		faces = append(faces, serve.Face{Name: face.name, Server: serve.NewServer(face.handler, log), Listener: listener})
	}
	log.Info("Gate is listening", "version", version, "address", c.Address)
	return serve.Run(ctx, health.Drain, faces...)
}

func newHandler(c config.Config, transformer serve.Transformer, metrics *serve.Metrics, log *slog.Logger) (http.Handler, error) {
	results, err := cache.New(cache.Options{
		Memory: c.CacheMemory, Folder: c.CacheFolder,
		// The rest is for files that are being written and for the file system itself.
		Disk:    c.CacheDisk / 10 * 8,
		Evicted: metrics.Evicted, Failed: metrics.DiskFailed, Log: log,
	})
	if err != nil {
		return nil, fmt.Errorf("open cache: %w", err)
	}
	pipeline := serve.NewPipeline(&serve.Pipeline{
		Options: serve.Options{
			Rules: c.Rules, MaxSourcePixels: c.MaxSourcePixels, MaxSourceBytes: c.MaxSourceBytes,
			Revalidate: c.Revalidate, StaleIfError: c.StaleIfError,
			ShrinkFirst: c.ShrinkFirst, DarkroomMemory: c.DarkroomMemory,
			Budget: serve.NewBudget(c.Memory),
		},
		Source: c.Source, Transformer: transformer, Cache: results, Metrics: metrics,
	})
	metrics.Observe(pipeline)
	h := &serve.Handler{Pipeline: pipeline, CacheTTL: c.CacheTTL, Log: log}
	if c.AccessLog {
		h.AccessLog = log
	}
	return h, nil
}
