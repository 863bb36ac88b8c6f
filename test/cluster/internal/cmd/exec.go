//go:build linux

package cmd

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/child"
	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/cluster"
)

func runExec(ctx context.Context, flags *flag.FlagSet, args []string) (err error) {
	node := flags.String("node", string(cluster.Simulated), "kind of node: simulated, or real (needs root)")
	dir := flags.String("dir", "", "folder of the cluster (default: a temporary one)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return errors.New("no command to run; for example: cluster exec -- kubectl get nodes")
	}
	if *dir == "" {
		if *dir, err = os.MkdirTemp("", "cluster-"); err != nil {
			return fmt.Errorf("create a folder for the cluster: %w", err)
		}
		defer func() { err = errors.Join(err, os.RemoveAll(*dir)) }()
	}
	c := &cluster.Cluster{Node: cluster.NodeKind(*node)}
	if c.Dir, err = filepath.Abs(*dir); err != nil {
		return err
	}
	stop, err := start(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	state, err := c.LoadState()
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "ready after %s\n", state.ReadyAfter)
	// The command is looked up with the new PATH, so that kubectl is the cluster's.
	bin, err := ensureBuilt(ctx, "kubectl")
	if err == nil {
		err = os.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	}
	if err != nil {
		return err
	}
	return runCommand(ctx, flags.Args(), append(os.Environ(),
		"KUBECONFIG="+state.Kubeconfig, "INGRESS_URL="+state.Ingress, "CLUSTER_DIR="+c.Dir))
}

// commandGrace is the grace period for the command to end.
const commandGrace = 10 * time.Second

// runCommand runs the command until it ends. If ctx ends first, the command and its children also receive a signal to
// end.
func runCommand(ctx context.Context, args, env []string) error {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	// The command runs in its own process group, so that its children receive signals, too. In the foreground of a
	// terminal it must stay in the terminal's group to read from it.
	alone := !term.IsTerminal(int(os.Stdin.Fd()))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: alone}
	signal := func(s syscall.Signal) error {
		if alone {
			return syscall.Kill(-cmd.Process.Pid, s)
		}
		return cmd.Process.Signal(s)
	}
	cmd.Cancel, cmd.WaitDelay = func() error { return signal(syscall.SIGTERM) }, commandGrace
	if err := child.Start(cmd); err != nil {
		return fmt.Errorf("run %s: %w", args[0], err)
	}
	err := cmd.Wait()
	if alone {
		// Background processes of the command must not outlive the cluster.
		_ = signal(syscall.SIGKILL)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return exitCode(err)
}

// exitCode converts the result of a command into the exit code of this program.
func exitCode(err error) error {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return exitError{128 + int(status.Signal())} // as in a shell
	}
	return exitError{exit.ExitCode()}
}
