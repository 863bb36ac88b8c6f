package cmd

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/build"
)

func buildCommand() command {
	return command{
		name:      "build",
		arguments: "[component or group ...]",
		summary:   "Build the programs of a cluster",
		help: fmt.Sprintf(`
Builds what is not up to date. The first time takes about ten minutes on two
cores; afterwards the build cache makes it seconds.

The programs are in bin/k8s of the repository. With KUBERNETES=v1.30.14 in the environment all
commands use that version, and bin/k8s-v1.30.14.

Groups:
  %-10s kube-apiserver, etcd, kubectl: what envtest needs
  %-10s a cluster with simulated nodes (default)
  %-10s a cluster with a real node
  %-10s the Operator Lifecycle Manager, for pods of a real node
Components: %s
`, build.GroupAssets, build.GroupSimulated, build.GroupReal, build.GroupOLM, strings.Join(build.Names(), ", ")),
		run: func(ctx context.Context, flags *flag.FlagSet, args []string) error {
			if err := parse(flags, args); err != nil {
				return err
			}
			dir, err := ensureBuilt(ctx, os.Stderr, flags.Args()...)
			if err != nil {
				return err
			}
			fmt.Fprintf(os.Stderr, "up to date: %s\n", dir)
			return nil
		},
	}
}

func assetsCommand() command {
	return command{
		name:    "assets",
		summary: "Build what envtest needs and print its folder",
		help: `
Prints nothing else on standard output:
  KUBEBUILDER_ASSETS=$(cluster assets) go test ./...
`,
		run: func(ctx context.Context, flags *flag.FlagSet, args []string) error {
			if err := parse(flags, args); err != nil {
				return err
			}
			if err := noArguments(flags); err != nil {
				return err
			}
			dir, err := ensureBuilt(ctx, os.Stderr, build.GroupAssets)
			if err != nil {
				return err
			}
			fmt.Println(dir)
			return nil
		},
	}
}

// ensureBuilt builds what is named, where needed, and returns the absolute
// folder of the programs.
func ensureBuilt(ctx context.Context, out io.Writer, names ...string) (string, error) {
	components, err := build.Select(names...)
	if err != nil {
		return "", err
	}
	dir, err := binDir()
	if err != nil {
		return "", err
	}
	own, err := ownDir()
	if err != nil {
		return "", err
	}
	builder := &build.Builder{
		OwnDir: own, ProgramsDir: filepath.Join(own, "programs"), BinDir: dir, Out: out,
		Kubernetes: os.Getenv("KUBERNETES"), Prebuilt: os.Getenv("PREBUILT") != "no",
	}
	return dir, builder.Build(ctx, components)
}
