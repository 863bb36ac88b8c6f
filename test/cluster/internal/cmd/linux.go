//go:build linux

package cmd

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/build"
	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/cluster"
)

func runOnLinux(ctx context.Context, flags *flag.FlagSet, args []string) error {
	switch args[0] {
	case "exec":
		return runExec(ctx, flags, args[1:])
	case "load":
		return runLoad(ctx, flags, args[1:])
	case "doctor":
		err := cluster.CheckMachine()
		if err == nil {
			fmt.Println("this machine can run a real node")
		}
		return err
	case cluster.SuperviseCommand, cluster.InitCommand:
		return supervise(ctx, args)
	default:
		return flag.ErrHelp
	}
}

// start builds what a cluster needs and starts it.
func start(ctx context.Context, c *cluster.Cluster) (stop func() error, err error) {
	group := build.GroupSimulated
	switch c.Node {
	case cluster.Simulated:
	case cluster.Real:
		// Checked before building, which takes minutes.
		if err := cluster.CheckMachine(); err != nil {
			return nil, err
		}
		group = build.GroupReal
	default:
		return nil, fmt.Errorf("--node must be %s or %s, not %q", cluster.Simulated, cluster.Real, c.Node)
	}
	if c.BinDir, err = ensureBuilt(ctx, group); err != nil {
		return nil, err
	}
	return cluster.Start(ctx, c, os.Stderr)
}

func runLoad(ctx context.Context, flags *flag.FlagSet, args []string) error {
	var f imageFlags
	f.add(flags)
	dir := flags.String("dir", os.Getenv("CLUSTER_DIR"), "folder of the cluster (default: CLUSTER_DIR)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	c := cluster.Cluster{Dir: *dir}
	if state, err := c.LoadState(); err != nil || state.Node != cluster.Real {
		return fmt.Errorf("no cluster with a real node runs in %q: %w", *dir, err)
	}
	for _, archive := range flags.Args() {
		if strings.Contains(archive, "=") {
			folder, err := os.MkdirTemp("", "image-")
			if err != nil {
				return err
			}
			defer os.RemoveAll(folder)
			packed := filepath.Join(folder, "image.tar")
			if err := f.pack(archive, packed); err != nil {
				return err
			}
			archive = packed
		}
		name, err := cluster.Load(ctx, archive)
		if err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, "loaded %s\n", name)
	}
	return nil
}

// supervise runs the hidden commands that start a supervisor.
func supervise(ctx context.Context, args []string) error {
	if len(args) != 4 {
		return flag.ErrHelp
	}
	c := &cluster.Cluster{Dir: args[1], BinDir: args[2], Node: cluster.NodeKind(args[3])}
	// Closing terminals must not affect it, and the reader of its events may have ended.
	signal.Ignore(syscall.SIGHUP, syscall.SIGPIPE)
	if args[0] == cluster.InitCommand {
		exit, err := cluster.Init(c)
		if err != nil {
			return err
		}
		return exitError{exit}
	}
	return cluster.Supervise(ctx, c)
}
