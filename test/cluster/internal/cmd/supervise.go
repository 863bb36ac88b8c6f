package cmd

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/cluster"
)

// supervise runs the hidden commands that Up starts.
func supervise(args []string) int {
	if len(args) < 2 {
		return 2
	}
	if args[0] == cluster.InitCommand {
		exit, err := cluster.Init(args[1:])
		if err != nil {
			return code(err, os.Stderr)
		}
		return exit
	}
	// Closing terminals are none of its business.
	signal.Ignore(syscall.SIGHUP, syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	syscall.CloseOnExec(cluster.EventsFD)
	if len(args) > 2 && args[2] == cluster.Owned {
		syscall.CloseOnExec(cluster.LifelineFD)
		lifeline := os.NewFile(cluster.LifelineFD, "lifeline")
		go func() {
			_, _ = io.Copy(io.Discard, lifeline)
			cancel()
		}()
	}
	events := os.NewFile(cluster.EventsFD, "events")
	return code(cluster.Supervise(ctx, args[1], events), os.Stderr)
}
