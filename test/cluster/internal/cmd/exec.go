package cmd

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/cluster"
	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/process"
)

func execCommand() command {
	return command{
		name:      "exec",
		arguments: "[options] -- command [argument ...]",
		summary:   "Run a command with a cluster of its own",
		help: `
Starts a new cluster, runs the command, stops the cluster, and exits with the
command's exit code. The command finds in its environment:
  KUBECONFIG    of the cluster's administrator
  INGRESS_URL   of the ingress controller
  CLUSTER_DIR   the cluster's folder (for cluster load --dir)
  PATH          with the folder of the programs in front (kubectl)
`,
		run: func(ctx context.Context, flags *flag.FlagSet, args []string) error {
			var f clusterFlags
			f.add(flags)
			if err := parse(flags, args); err != nil {
				return err
			}
			if flags.NArg() == 0 {
				return errors.New("no command to run; for example: cluster exec -- kubectl get nodes")
			}
			return runWithCluster(ctx, f, flags.Args())
		},
	}
}

func runWithCluster(ctx context.Context, f clusterFlags, args []string) (err error) {
	dir, err := os.MkdirTemp("", "cluster-")
	if err != nil {
		return fmt.Errorf("make a folder for the cluster: %w", err)
	}
	defer func() {
		if _, downErr := cluster.Down(dir); downErr != nil {
			err = errors.Join(err, downErr)
			return
		}
		err = errors.Join(err, os.RemoveAll(dir))
	}()
	state, err := f.start(ctx, dir, true, os.Stderr)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "ready after %s\n", state.ReadyAfter)
	return runCommand(ctx, args, append(os.Environ(),
		"KUBECONFIG="+state.Kubeconfig,
		"INGRESS_URL="+state.Ingress,
		"CLUSTER_DIR="+dir,
		"PATH="+state.BinDir+string(filepath.ListSeparator)+os.Getenv("PATH"),
	))
}

// commandGrace is how long the command may take to end when it is told to.
const commandGrace = 10 * time.Second

// runCommand runs the command until it ends. When ctx ends first, the command
// and its children are told to end too.
func runCommand(ctx context.Context, args, env []string) error {
	// Looked up with the new PATH, so that kubectl is the cluster's.
	for _, entry := range env {
		if path, ok := strings.CutPrefix(entry, "PATH="); ok {
			if err := os.Setenv("PATH", path); err != nil {
				return err
			}
		}
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	// A process group of its own, so that its children are signaled too; but in
	// front of a terminal it must stay in the terminal's group to read from it.
	alone := !isTerminal(os.Stdin)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: alone}
	if err := process.StartTied(cmd); err != nil {
		return fmt.Errorf("run %s: %w", args[0], err)
	}
	var ended error
	done := make(chan struct{})
	go func() {
		defer close(done)
		ended = cmd.Wait()
	}()

	target := cmd.Process.Pid
	if alone {
		target = -target
		// Background processes of the command must not outlive the cluster.
		defer func() { _ = syscall.Kill(target, syscall.SIGKILL) }()
	}
	select {
	case <-done:
		return exitCode(ended, args[0])
	case <-ctx.Done():
	}
	_ = syscall.Kill(target, syscall.SIGTERM)
	select {
	case <-done:
	case <-time.After(commandGrace):
		_ = syscall.Kill(target, syscall.SIGKILL)
		<-done
	}
	return context.Cause(ctx)
}

// exitCode turns the result of a command into the exit code of this one.
func exitCode(err error, name string) error {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		if err != nil {
			return fmt.Errorf("run %s: %w", name, err)
		}
		return nil
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return exitError{128 + int(status.Signal())} // as in a shell
	}
	return exitError{exit.ExitCode()}
}

// isTerminal reports whether file is a terminal: a character device other than
// /dev/null.
func isTerminal(file *os.File) bool {
	info, err := file.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}
