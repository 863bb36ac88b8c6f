// Package cmd implements the command line. Output for other programs is written to standard output, progress and errors
// to standard error.
package cmd

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"

	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/build"
)

const usage = `cluster builds, starts and stops a Kubernetes cluster on this machine. See test/cluster/README.md.

  cluster build NAME ...        Build programs or groups of them; see below
  cluster assets                Build what envtest needs, and print its folder
  cluster image --output TAR [options] NAME=BINARY
                                Pack a static program as an image, such as
                                docker.io/gojektech/darkroom:v0.4.2=bin/darkroom

On Linux:

  cluster exec [--node real] [--dir DIR] -- COMMAND [ARGUMENT ...]
                                Run a command with a cluster of its own, which is in its
                                environment: KUBECONFIG, INGRESS_URL, CLUSTER_DIR, PATH
  cluster load [--dir DIR] [options] NAME=BINARY|TAR ...
                                Load images into the real node; pods use them with
                                imagePullPolicy IfNotPresent or Never
  cluster doctor                Check whether this machine can run a real node

Programs are built into bin/k8s of the repository. With KUBERNETES=v1.30.14 in the environment
all commands use that version, and bin/k8s-v1.30.14. Groups and programs: %s.
`

// exitError makes the program exit with a code, without a message.
type exitError struct{ code int }

func (e exitError) Error() string { return fmt.Sprintf("exit code %d", e.code) }

// Main runs the command line and returns the exit code.
func Main(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	err := run(ctx, args)
	var exit exitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.code
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(os.Stderr, usage, strings.Join(build.Names(), ", "))
		return 2
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "interrupted")
		return 130
	default:
		fmt.Fprintf(os.Stderr, "error: %s\n", err)
		return 1
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return flag.ErrHelp
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	switch args[0] {
	case "build":
		return printBuilt(ctx, os.Stderr, args[1:]...)
	case "assets":
		return printBuilt(ctx, os.Stdout, build.GroupAssets)
	case "image":
		return runImage(flags, args[1:])
	default:
		return runOnLinux(ctx, flags, args)
	}
}

// printBuilt builds the named components if necessary, and prints the folder of the programs.
func printBuilt(ctx context.Context, out io.Writer, names ...string) error {
	dir, err := ensureBuilt(ctx, names...)
	if err == nil {
		fmt.Fprintln(out, dir)
	}
	return err
}

// release is a version of Kubernetes.
var release = regexp.MustCompile(`^v1\.[0-9]+\.[0-9]+$`)

// ensureBuilt builds the named components if necessary, and returns the absolute folder of the programs.
func ensureBuilt(ctx context.Context, names ...string) (string, error) {
	components, err := build.Select(names...)
	if err != nil {
		return "", err
	}
	// This program is in the folder bin of the repository.
	file, err := os.Executable()
	if err != nil {
		return "", err
	}
	bin := filepath.Dir(file)
	own := filepath.Join(bin, "..", "test", "cluster")
	folder, version := "k8s", os.Getenv("KUBERNETES")
	if version != "" {
		if !release.MatchString(version) {
			return "", fmt.Errorf("KUBERNETES=%s: must be a version such as v1.30.14", version)
		}
		folder += "-" + version
	}
	builder := &build.Builder{
		OwnDir: own, ProgramsDir: filepath.Join(own, "programs"), BinDir: filepath.Join(bin, folder), Out: os.Stderr,
		Kubernetes: version, Prebuilt: os.Getenv("PREBUILT") != "no",
	}
	return builder.BinDir, builder.Build(ctx, components)
}
