//go:build linux

package cluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/child"
)

// SuperviseCommand and InitCommand are the names of the hidden commands that start a supervisor. Their arguments are
// the cluster's folder, the folder of the programs and the kind of the node. InitCommand becomes the first process of a
// real node's namespaces and runs the supervisor in them.
const (
	SuperviseCommand = "supervise"
	InitCommand      = "init"
)

// Files that are open when a supervisor starts: the pipe to which it reports and, with a real node, the lock of the
// machine.
const (
	eventsFD = 3
	lockFD   = 4
)

// stopLimit is the time limit for a supervisor to stop its cluster.
const stopLimit = 60 * time.Second

// Start starts a cluster and returns when the cluster can be used. Progress is written to out. The cluster ends when
// this process ends in any way, or when stop is called, which removes everything except the logs.
func Start(ctx context.Context, c *Cluster, out io.Writer) (stop func() error, err error) {
	if err := errors.Join(c.clear(), os.MkdirAll(c.file("logs"), 0o755)); err != nil {
		return nil, fmt.Errorf("create the cluster's folder: %w", err)
	}
	var lock *os.File
	if c.Node == Real {
		if lock, err = lockMachine(); err != nil {
			return nil, err
		}
		// An earlier node may have been killed.
		if err := Sweep(); err != nil {
			return nil, err
		}
	}
	supervisor, events, err := c.launch(lock)
	if err != nil {
		return nil, err
	}
	defer events.Close()
	stop = func() error {
		defer lock.Close() // the supervisor also holds the lock, but ends before everything is removed
		return c.stop(supervisor)
	}
	followed := make(chan error, 1)
	go func() { followed <- follow(events, out) }()
	select {
	case err = <-followed:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, stop())
	}
	return stop, nil
}

// lockMachine makes this process, and processes that inherit the file, the owner of the machine's only real node. The
// lock is an abstract socket, because that belongs to the network namespace, like the bridge and the rules, which must
// not be created twice.
func lockMachine() (*os.File, error) {
	listener, err := net.Listen("unix", "@darkroom-cluster-node")
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, errors.New("a cluster with a real node is already running on this machine, and there can be only one")
	}
	if err != nil {
		return nil, fmt.Errorf("lock the machine's real node: %w", err)
	}
	defer listener.Close() // the file is a copy
	return listener.(*net.UnixListener).File()
}

// launch starts the supervisor, and returns the pipe to which it reports.
func (c *Cluster) launch(lock *os.File) (supervisor *exec.Cmd, events *os.File, err error) {
	log, err := os.Create(c.file("logs/supervisor.log"))
	if err != nil {
		return nil, nil, fmt.Errorf("open the supervisor's log: %w", err)
	}
	defer log.Close()
	events, eventsEnd, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer eventsEnd.Close()
	supervisor = exec.Command("/proc/self/exe", SuperviseCommand, c.Dir, c.BinDir, string(c.Node))
	supervisor.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGTERM}
	supervisor.Stdout, supervisor.Stderr = log, log
	supervisor.ExtraFiles = []*os.File{eventsEnd}
	if c.Node == Real {
		supervisor.Args[1] = InitCommand
		supervisor.SysProcAttr.Cloneflags = syscall.CLONE_NEWPID | syscall.CLONE_NEWNS
		supervisor.ExtraFiles = append(supervisor.ExtraFiles, lock)
	}
	if err := child.Start(supervisor); err != nil {
		return nil, nil, fmt.Errorf("start the supervisor: %w", err)
	}
	return supervisor, events, nil
}

// stop stops the supervisor, and removes what it has left.
func (c *Cluster) stop(supervisor *exec.Cmd) error {
	_ = supervisor.Process.Signal(syscall.SIGTERM) // an error means that it has ended
	kill := time.AfterFunc(stopLimit, func() { _ = supervisor.Process.Kill() })
	_ = supervisor.Wait() // its log contains the reason of a failure
	kill.Stop()
	var err error
	if c.Node == Real {
		err = Sweep()
	}
	return errors.Join(err, c.clear())
}

// A supervisor reports its steps as lines, and ends with the line ready, or with failed and the error.
const (
	ready  = "ready"
	failed = "failed: "
)

// follow prints the steps to out until the supervisor reports that it is ready
// (nil) or has failed, or ends without a report.
func follow(pipe io.Reader, out io.Writer) error {
	reader := bufio.NewReader(pipe)
	for {
		line, err := reader.ReadString('\n')
		switch {
		case strings.TrimSpace(line) == ready:
			return nil
		case strings.HasPrefix(line, failed):
			rest, _ := io.ReadAll(reader) // the supervisor is ending
			return errors.New(strings.TrimSpace(strings.TrimPrefix(line, failed) + string(rest)))
		case err != nil:
			return errors.New("the supervisor ended before the cluster was ready; see supervisor.log")
		default:
			fmt.Fprint(out, line)
		}
	}
}
