// Gate is a reverse proxy for one Darkroom. It checks requests, fetches and checks originals, resizes them or lets
// Darkroom transform them, within the memory limits of both, and caches the results. README.md follows a request
// through the packages.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/darkroom-operator/darkroom-operator/gate/cache"
	"github.com/darkroom-operator/darkroom-operator/gate/config"
	"github.com/darkroom-operator/darkroom-operator/gate/darkroom"
	"github.com/darkroom-operator/darkroom-operator/gate/pipeline"
	"github.com/darkroom-operator/darkroom-operator/gate/serve"
	"github.com/darkroom-operator/darkroom-operator/gate/signing"
	"github.com/darkroom-operator/darkroom-operator/gate/source"
	"github.com/darkroom-operator/darkroom-operator/gate/supervise"
)

// version is the content of VERSION, set by the linker.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	err := command(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "gate:", err)
		os.Exit(1)
	}
}

// command runs the gate, or one of the helpers for the pod of a gate.
func command(ctx context.Context, args []string) error {
	switch {
	case len(args) == 0:
		return run(ctx, os.Getenv)
	case args[0] == "install" && len(args) == 2:
		return supervise.Install(args[1])
	case args[0] == "supervise" && len(args) > 1:
		if err := supervise.LimitMemory(os.Getenv("GATE_DARKROOM_MEMORY_LIMIT")); err != nil {
			return err
		}
		return supervise.Run(ctx, slog.New(slog.NewJSONHandler(os.Stdout, nil)), args[1], args[2:]...)
	}
	return errors.New("usage: gate [install PATH | supervise PROGRAM [ARGUMENT …]]")
}

func run(ctx context.Context, getenv func(string) string) error {
	c, err := config.Read(getenv)
	metrics := pipeline.NewMetrics(version)
	//nolint:contextcheck // it requests tokens for as long as the gate runs
	from, sourceErr := source.NewTable(c.Sources, metrics.FellBack)
	if err := errors.Join(err, sourceErr); err != nil {
		return err
	}
	floor := tuneGarbageCollector(c.Memory)
	defer runtime.KeepAlive(floor)
	log := slog.New(slog.NewJSONHandler(os.Stdout, &slog.HandlerOptions{Level: c.LogLevel}))

	transformer := darkroom.New(c.Darkroom, c.PassedOnMemory())
	results := cache.New(cache.Options{
		Memory: c.CacheMemory(), Folder: c.CacheFolder,
		// The rest is reserved for files that are being written and for the file system.
		Disk:    c.CacheDisk / 10 * 8,
		Evicted: metrics.Evicted, Failed: metrics.DiskFailed, Log: log,
	})
	c.Options.Source, c.Options.Log = from, log
	handler := &serve.Handler{
		Pipeline: pipeline.New(c.Options, transformer, results, metrics), Rules: c.Rules, ID: c.Sources[0].Gate,
		CacheTTL: c.CacheTTL, ServerTiming: c.ServerTiming, CrossOrigin: c.CrossOrigin, AccessLog: c.AccessLog, Log: log,
	}
	if c.Signing.File != "" {
		c.Signing.Count, c.Signing.Log = metrics.Verified, log
		if handler.Signing, err = signing.New(c.Signing); err != nil {
			return fmt.Errorf("environment variable GATE_SIGNING_KEYS_FILE: %w", err)
		}
	}
	log.Info("Gate starts", "version", version, "address", c.Address)
	return serve.Run(ctx, log,
		serve.Face{Name: "images", Address: c.Address, Handler: handler},
		serve.Face{Name: "Darkroom", Address: c.Inner, Handler: transformer},
		serve.Face{Name: "metrics", Address: c.Metrics, Handler: serve.NewHealth(metrics, transformer.Ping)})
}

// tuneGarbageCollector lets garbage grow to half of the heap. Originals and pixels contain no pointers, so frequent
// collections are cheap. It returns a block that counts as a part of the heap, but is never written and occupies no
// memory. Without the block, a gate that serves cached images has a small heap and collects all the time.
func tuneGarbageCollector(memory int64) (floor []byte) {
	floor = make([]byte, memory/16)
	debug.SetGCPercent(50)
	// Beyond 90 % of the limit (floor included), the heap is collected more often, so that the limit is not exceeded.
	debug.SetMemoryLimit(memory / 10 * 9)
	return floor
}
