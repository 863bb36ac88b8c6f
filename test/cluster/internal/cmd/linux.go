//go:build linux

package cmd

import (
	"context"
	"errors"
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
	case "up":
		return runUp(ctx, flags, args[1:])
	case "down":
		return runDown(flags, args[1:])
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
func start(ctx context.Context, c cluster.Cluster, owned bool) (cluster.State, error) {
	group := build.GroupSimulated
	switch c.Node {
	case cluster.Simulated:
	case cluster.Real:
		// Before minutes of building.
		if err := cluster.CheckMachine(); err != nil {
			return cluster.State{}, err
		}
		group = build.GroupReal
	default:
		return cluster.State{}, fmt.Errorf("--node must be %s or %s, not %q", cluster.Simulated, cluster.Real, c.Node)
	}
	var err error
	if c.BinDir, err = ensureBuilt(ctx, group); err != nil {
		return cluster.State{}, err
	}
	return cluster.Up(ctx, c, owned, os.Stderr)
}

func nodeFlag(flags *flag.FlagSet) *string {
	return flags.String("node", string(cluster.Simulated), "kind of node: simulated, or real (needs root)")
}

// parseDir parses arguments with a flag for the cluster's folder, and returns it as an absolute path.
func parseDir(flags *flag.FlagSet, args []string) (string, error) {
	dir := flags.String("dir", os.Getenv("CLUSTER_DIR"), "folder of the cluster (default: CLUSTER_DIR)")
	if err := flags.Parse(args); err != nil {
		return "", err
	}
	if *dir == "" {
		return "", fmt.Errorf("cluster %s needs --dir", flags.Name())
	}
	return filepath.Abs(*dir)
}

func runUp(ctx context.Context, flags *flag.FlagSet, args []string) error {
	node := nodeFlag(flags)
	dir, err := parseDir(flags, args)
	if err != nil {
		return err
	}
	state, err := start(ctx, cluster.Cluster{Dir: dir, Node: cluster.NodeKind(*node)}, false)
	if err != nil && !errors.Is(err, cluster.ErrRunning) {
		return err
	}
	if err == nil {
		fmt.Fprintf(os.Stderr, "ready after %s\n", state.ReadyAfter)
	}
	fmt.Printf("KUBECONFIG=%s\nINGRESS_URL=%s\n", state.Kubeconfig, state.Ingress)
	return nil
}

func runDown(flags *flag.FlagSet, args []string) error {
	dir, err := parseDir(flags, args)
	if err != nil {
		return err
	}
	running, err := cluster.Down(dir)
	if err == nil && running {
		fmt.Fprintf(os.Stderr, "stopped the cluster in %s\n", dir)
	}
	return err
}

func runLoad(ctx context.Context, flags *flag.FlagSet, args []string) error {
	var f imageFlags
	f.add(flags)
	dir, err := parseDir(flags, args)
	if err != nil {
		return err
	}
	c := cluster.Cluster{Dir: dir}
	if state, err := c.LoadState(); err != nil || state.Node != cluster.Real {
		return fmt.Errorf("no cluster with a real node runs in %s: %w", dir, err)
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

// supervise runs the hidden commands that Up starts.
func supervise(ctx context.Context, args []string) error {
	if len(args) != 4 {
		return flag.ErrHelp
	}
	c := &cluster.Cluster{Dir: args[1], BinDir: args[2], Node: cluster.NodeKind(args[3])}
	// Closing terminals are none of its business, and the reader of its events may have ended.
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
