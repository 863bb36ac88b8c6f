package cmd

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/cluster"
)

func pullCommand() command {
	return command{
		name:      "pull",
		arguments: "[options] NAME ...",
		summary:   "Pull images from their registries into the real node, unless they are there",
		help: `
Proxies are those of the environment. Mirrors of a registry are described in the
cluster's folder, in node/registries/HOST/hosts.toml.
`,
		run: func(ctx context.Context, flags *flag.FlagSet, args []string) error {
			timeout := flags.Duration("timeout", 2*time.Minute, "time that all of it may take")
			dirFlag := flags.String("dir", os.Getenv("CLUSTER_DIR"), dirFlagHelp+"; CLUSTER_DIR sets it too")
			if err := parse(flags, args); err != nil {
				return err
			}
			if flags.NArg() == 0 {
				return errors.New("cluster pull needs at least one NAME, such as docker.io/gojektech/darkroom:v0.4.2")
			}
			dir, err := clusterDir(*dirFlag)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeoutCause(ctx, *timeout, fmt.Errorf("not done after %s", *timeout))
			defer cancel()
			for _, name := range flags.Args() {
				if err := cluster.Pull(ctx, dir, name); err != nil {
					return err
				}
				fmt.Fprintf(os.Stderr, "pulled %s\n", name)
			}
			return nil
		},
	}
}
