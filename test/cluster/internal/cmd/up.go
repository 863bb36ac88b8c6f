package cmd

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/build"
	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/cluster"
)

const dirFlagHelp = "folder of the cluster (default: .cluster of the repository)"

// clusterFlags are the options of a cluster to start.
type clusterFlags struct {
	node string
}

func (f *clusterFlags) add(flags *flag.FlagSet) {
	flags.StringVar(&f.node, "node", string(cluster.Simulated), "kind of node: simulated, or real (needs root and Linux)")
}

// start builds what the cluster needs and starts it in dir.
func (f *clusterFlags) start(ctx context.Context, dir string, owned bool, out io.Writer) (cluster.State, error) {
	o := cluster.Options{Dir: dir, Node: cluster.NodeKind(f.node)}
	if err := o.Check(); err != nil {
		return cluster.State{}, err
	}
	group := build.GroupSimulated
	if o.Node == cluster.Real {
		// Before minutes of building.
		if err := cluster.CheckMachine(); err != nil {
			return cluster.State{}, err
		}
		group = build.GroupReal
	}
	bin, err := ensureBuilt(ctx, out, group)
	if err != nil {
		return cluster.State{}, err
	}
	o.BinDir = bin
	return cluster.Up(ctx, o, owned, out)
}

func upCommand() command {
	return command{
		name:    "up",
		summary: "Start a cluster and return when it can be used",
		help: `
Prints the path of the kubeconfig and the URL of the ingress controller.
cluster.json in the cluster's folder describes the rest.
`,
		run: func(ctx context.Context, flags *flag.FlagSet, args []string) error {
			var f clusterFlags
			f.add(flags)
			dirFlag := flags.String("dir", "", dirFlagHelp)
			if err := parse(flags, args); err != nil {
				return err
			}
			if err := noArguments(flags); err != nil {
				return err
			}
			dir, err := clusterDir(*dirFlag)
			if err != nil {
				return err
			}
			state, err := f.start(ctx, dir, false, os.Stderr)
			switch {
			case errors.Is(err, cluster.ErrRunning):
				fmt.Fprintf(os.Stderr, "the cluster in %s runs already\n", dir)
			case err != nil:
				return err
			default:
				fmt.Fprintf(os.Stderr, "ready after %s\n", state.ReadyAfter)
			}
			fmt.Printf("KUBECONFIG=%s\nINGRESS_URL=%s\n", state.Kubeconfig, state.Ingress)
			return nil
		},
	}
}

func downCommand() command {
	return command{
		name:    "down",
		summary: "Stop a cluster and clear what it left",
		run: func(_ context.Context, flags *flag.FlagSet, args []string) error {
			dirFlag := flags.String("dir", "", dirFlagHelp)
			if err := parse(flags, args); err != nil {
				return err
			}
			if err := noArguments(flags); err != nil {
				return err
			}
			dir, err := clusterDir(*dirFlag)
			if err != nil {
				return err
			}
			running, err := cluster.Down(dir)
			if err != nil {
				return err
			}
			if running {
				fmt.Fprintf(os.Stderr, "stopped the cluster in %s\n", dir)
			} else {
				fmt.Fprintf(os.Stderr, "no cluster runs in %s\n", dir)
			}
			return nil
		},
	}
}
