package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/process"
)

// ErrRunning is returned when the cluster is already running.
var ErrRunning = errors.New("the cluster runs already")

// SuperviseCommand is the name of the hidden command that a supervisor is
// started with. Its arguments are the cluster's folder and, if the cluster is
// to end with its owner, Owned.
//
// With a real node InitCommand, with the same arguments, is started instead:
// it becomes the first process of the node's namespaces and runs the
// supervisor in them.
const (
	SuperviseCommand = "supervise"
	InitCommand      = "init"
	Owned            = "owned"
)

// File descriptors that a supervisor finds open.
const (
	// EventsFD is the pipe it reports to.
	EventsFD = 3
	// LifelineFD, if the cluster is owned, is a pipe whose other end is closed
	// when the owner ends.
	LifelineFD = 4
)

// Up starts a cluster and returns when it can be used. Progress goes to out.
// With owned, the cluster ends with this process, however that ends; without,
// it stays until Down.
//
// The error is ErrRunning, with the state beside it, when there is one.
func Up(ctx context.Context, o Options, owned bool, out io.Writer) (State, error) {
	if err := o.Check(); err != nil {
		return State{}, err
	}
	// The supervisor takes the cluster's lock; until then, this one tells two
	// starts apart.
	starting, err := acquire(Layout{o.Dir}.starting())
	if errors.Is(err, errLocked) {
		return alreadyRunning(o)
	}
	if err != nil {
		return State{}, err
	}
	defer starting.release()
	running, err := Running(o.Dir)
	if err != nil {
		return State{}, err
	}
	if running {
		return alreadyRunning(o)
	}
	if o.Node == Real {
		// Before the namespaces are made; the supervisor locks it for good.
		if err := CheckMachineFree(); err != nil {
			return State{}, err
		}
	}
	layout := Layout{o.Dir}
	if err := sweep(layout, true); err != nil {
		return State{}, err
	}
	if err := layout.make(); err != nil {
		return State{}, err
	}
	if err := o.save(layout.options()); err != nil {
		return State{}, fmt.Errorf("write the cluster's options: %w", err)
	}
	if err := launch(ctx, o, owned, out); err != nil {
		return State{}, err
	}
	return LoadState(o.Dir)
}

func alreadyRunning(o Options) (State, error) {
	state, err := LoadState(o.Dir)
	if err != nil {
		return State{}, fmt.Errorf("a cluster is starting or stopping in %s; wait, or stop it with: cluster down --dir %s", o.Dir, o.Dir)
	}
	if state.Node != o.Node {
		return State{}, fmt.Errorf("the cluster in %s has a %s node, not a %s one; stop it first: cluster down --dir %s",
			o.Dir, state.Node, o.Node, o.Dir)
	}
	return state, ErrRunning
}

// launch forks the supervisor and follows it until the cluster is ready.
func launch(ctx context.Context, o Options, owned bool, out io.Writer) error {
	layout := Layout{o.Dir}
	events, eventsEnd, err := os.Pipe()
	if err != nil {
		return err
	}
	defer events.Close()
	log, err := os.OpenFile(filepath.Join(layout.Logs(), "supervisor.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("open the supervisor's log: %w", err)
	}
	defer log.Close()

	self, err := ownProgram()
	if err != nil {
		return err
	}
	// Not CommandContext: the supervisor outlives this call.
	first := SuperviseCommand
	if o.Node == Real {
		first = InitCommand
	}
	cmd := exec.Command(self, first, o.Dir)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{eventsEnd}
	if owned {
		lifeline, otherEnd, err := os.Pipe()
		if err != nil {
			return err
		}
		defer lifeline.Close()
		heldOpen = append(heldOpen, otherEnd)
		cmd.ExtraFiles = append(cmd.ExtraFiles, lifeline)
		cmd.Args = append(cmd.Args, Owned)
	}
	cmd.SysProcAttr = supervisorAttributes(o.Node)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the supervisor: %w", err)
	}
	eventsEnd.Close()
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	if err := os.WriteFile(layout.supervisorPID(), []byte(strconv.Itoa(cmd.Process.Pid)), 0o644); err != nil {
		return fmt.Errorf("record the supervisor: %w", err)
	}

	followed := make(chan error, 1)
	go func() { followed <- follow(events, out) }()
	select {
	case err = <-followed:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err == nil {
		return nil
	}
	if errors.Is(err, errSilent) {
		err = fmt.Errorf("%w:\n%s", err, process.Tail(log.Name(), 20))
	}
	_ = cmd.Process.Signal(syscall.SIGTERM) // an error means that it has gone
	select {
	case <-ended:
	case <-time.After(stopLimit):
		_ = cmd.Process.Kill()
		<-ended
	}
	return errors.Join(err, sweep(layout, false))
}

// heldOpen are the ends of pipes that tell owned supervisors, by closing, that
// this process has ended.
var heldOpen []*os.File

// stopLimit is how long a supervisor may take to stop its cluster.
const stopLimit = 60 * time.Second

// end stops the supervisor, if there is one, and waits until it has gone.
func end(layout Layout) error {
	for deadline, signal := time.Now().Add(stopLimit), syscall.SIGTERM; ; {
		locked, err := isLocked(layout.lock())
		if err != nil {
			return err
		}
		pid := readPID(layout.supervisorPID())
		if !locked {
			return nil
		}
		if pid > 0 && signal != 0 {
			if err := syscall.Kill(pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("stop the supervisor, process %d: %w", pid, err)
			}
			signal = 0
		}
		if time.Now().After(deadline) {
			deadline, signal = time.Now().Add(stopLimit), syscall.SIGKILL
		}
		time.Sleep(pollInterval)
	}
}
