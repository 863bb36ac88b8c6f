//go:build linux

package cluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/child"
)

// ErrRunning is returned when the cluster is already running.
var ErrRunning = errors.New("the cluster is already running")

// SuperviseCommand and InitCommand are the names of the hidden commands that a supervisor is started
// with. Their arguments are the cluster's folder, the folder of the programs and the kind of the node.
// InitCommand becomes the first process of a real node's namespaces and runs the supervisor in them.
const (
	SuperviseCommand = "supervise"
	InitCommand      = "init"
)

// Files that a supervisor finds open: the pipe that it reports to, and locks from inherited on.
const (
	eventsFD  = 3
	inherited = 4
)

// stopLimit is how long a supervisor may take to stop its cluster.
const stopLimit = 60 * time.Second

// Up starts a cluster and returns when it can be used. Progress goes to out.
// With owned, the cluster ends with this process, however that ends; without,
// it stays until Down.
//
// The error is ErrRunning, with the state beside it, when there is one.
func Up(ctx context.Context, c Cluster, owned bool, out io.Writer) (State, error) {
	if err := os.MkdirAll(c.file("logs"), 0o755); err != nil {
		return State{}, fmt.Errorf("create the cluster's folder: %w", err)
	}
	locks, err := c.lock()
	if errors.Is(err, errLocked) {
		return c.alreadyRunning()
	}
	for _, lock := range locks {
		defer lock.Close()
	}
	if err != nil {
		return State{}, err
	}
	if c.Node == Real {
		if err := Sweep(); err != nil {
			return State{}, err
		}
	}
	if err := c.clear(); err != nil {
		return State{}, err
	}
	if err := c.launch(ctx, owned, locks, out); err != nil {
		return State{}, err
	}
	return c.LoadState()
}

// lock returns the locks of the cluster. The error is errLocked if it runs. The folder's is the last
// that the kernel releases when a process ends, so that Down finds the machine unlocked too.
func (c *Cluster) lock() ([]*os.File, error) {
	own, err := acquire(c.file("lock"))
	if err != nil || c.Node != Real {
		return []*os.File{own}, err
	}
	machine, err := lockMachine()
	return []*os.File{machine, own}, err
}

func (c *Cluster) alreadyRunning() (State, error) {
	state, err := c.LoadState()
	if err != nil {
		return State{}, fmt.Errorf("a cluster is starting or stopping in %[1]s; wait, or stop it with: cluster down --dir %[1]s", c.Dir)
	}
	if state.Node != c.Node {
		return State{}, fmt.Errorf("the cluster in %[1]s has a %[2]s node, not a %[3]s one; stop it first: cluster down --dir %[1]s",
			c.Dir, state.Node, c.Node)
	}
	return state, ErrRunning
}

// launch starts the supervisor and follows it until the cluster is ready.
func (c *Cluster) launch(ctx context.Context, owned bool, locks []*os.File, out io.Writer) error {
	events, eventsEnd, err := os.Pipe()
	if err != nil {
		return err
	}
	defer events.Close()
	log, err := os.Create(c.file("logs/supervisor.log"))
	if err != nil {
		return fmt.Errorf("open the supervisor's log: %w", err)
	}
	defer log.Close()

	// Not CommandContext: the supervisor outlives this call.
	cmd := exec.Command("/proc/self/exe", SuperviseCommand, c.Dir, c.BinDir, string(c.Node))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if c.Node == Real {
		cmd.Args[1] = InitCommand
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWPID | syscall.CLONE_NEWNS
	}
	start := (*exec.Cmd).Start
	if owned {
		cmd.SysProcAttr.Pdeathsig = syscall.SIGTERM
		start = child.Start
	}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = append([]*os.File{eventsEnd}, locks...)
	if err := start(cmd); err != nil {
		return fmt.Errorf("start the supervisor: %w", err)
	}
	eventsEnd.Close()
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	if err := os.WriteFile(c.file("supervisor.pid"), []byte(strconv.Itoa(cmd.Process.Pid)), 0o644); err != nil {
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
	_ = cmd.Process.Signal(syscall.SIGTERM) // an error means that it has gone
	select {
	case <-ended:
	case <-time.After(stopLimit):
		_ = cmd.Process.Kill()
		<-ended
	}
	if c.Node == Real {
		err = errors.Join(err, Sweep())
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
