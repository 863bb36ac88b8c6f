// Package program runs the operator's built program for tests.
package program

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/child"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/wait"
)

// endTimeout is the time within which a program must end after SIGTERM.
const endTimeout = 2 * time.Minute

// Program is a running program of the operator.
type Program struct {
	// URL is the base URL of /readyz; for the API server, the base URL of all its paths.
	URL string

	name, logFile string
	done          chan struct{}

	mu      sync.Mutex
	process *exec.Cmd
	ending  bool
}

// Manager starts the manager of a repository with a kubeconfig and additional flags. Its log is appended to a file.
func Manager(binaries, repository, kubeconfig, logFile string, flags ...string) (*Program, error) {
	address, err := FreeAddress()
	if err != nil {
		return nil, err
	}
	flags = append([]string{"manager", "--log-format", "console", "--health-probe-bind-address", address}, flags...)
	// watches.yaml is in the root of the repository
	return start(binaries, repository, kubeconfig, logFile, address, flags)
}

// APIServer starts the API server in the same way.
func APIServer(binaries, kubeconfig, logFile string, flags ...string) (*Program, error) {
	address, err := FreeAddress()
	if err != nil {
		return nil, err
	}
	return start(binaries, "", kubeconfig, logFile, address,
		append([]string{"apiserver", "--bind-address", address}, flags...))
}

// lastPort is below the range of ephemeral ports. Otherwise an outgoing connection could take a port after it was
// chosen and before it is used.
var lastPort atomic.Int32

func init() { lastPort.Store(10_000 + rand.Int32N(15_000)) } //nolint:gosec // no secret

// FreeAddress returns a free loopback address.
func FreeAddress() (string, error) {
	for range 1000 {
		address := fmt.Sprintf("127.0.0.1:%d", lastPort.Add(1))
		if listener, err := net.Listen("tcp", address); err == nil {
			return address, listener.Close()
		}
	}
	return "", errors.New("no port is free")
}

func start(binaries, dir, kubeconfig, logFile, address string, args []string) (*Program, error) {
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600) //nolint:gosec // tests choose their files
	if err != nil {
		return nil, fmt.Errorf("open the log of the %s: %w", args[0], err)
	}
	command := func() *exec.Cmd {
		//nolint:gosec // tests choose their program
		process := exec.Command(filepath.Join(binaries, "darkroom-operator"), args...)
		process.Dir, process.Env = dir, []string{"KUBECONFIG=" + kubeconfig, "HOME=/nonexistent"}
		process.Stdout, process.Stderr = log, log
		return process
	}
	p := &Program{URL: "http://" + address, name: args[0], logFile: logFile, done: make(chan struct{}), process: command()}
	if err := child.Start(p.process); err != nil {
		log.Close()
		return nil, fmt.Errorf("start the %s: %w", p.name, err)
	}
	go func() {
		defer close(p.done)
		defer log.Close()
		// A kubelet would restart a program that ends without an error.
		for p.process.Wait() == nil && p.restart(command()) {
		}
	}()
	return p, nil
}

// restart starts another process unless the program is being stopped, and reports whether it did.
func (p *Program) restart(process *exec.Cmd) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ending || child.Start(process) != nil {
		return false
	}
	p.process = process
	return true
}

// Pid returns the ID of the process.
func (p *Program) Pid() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.process.Process.Pid
}

// Ended returns an error if the program has exited by itself.
func (p *Program) Ended() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-p.done:
		if !p.ending {
			return fmt.Errorf("the %s ended by itself: %s", p.name, p.process.ProcessState)
		}
	default:
	}
	return nil
}

// Ready returns an error unless the program is ready. The error is permanent if the program has ended.
func (p *Program) Ready(ctx context.Context) error {
	if err := p.Ended(); err != nil {
		return wait.Permanent(err)
	}
	return wait.Responds(ctx, p.URL+"/readyz", http.StatusOK)
}

// End sends a signal and waits until the program has exited. After SIGTERM, the program must exit in time and without
// an error.
func (p *Program) End(signal syscall.Signal) error {
	p.mu.Lock()
	p.ending = true
	err := p.process.Process.Signal(signal)
	p.mu.Unlock()
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signal the %s: %w", p.name, err)
	}
	timer := time.NewTimer(endTimeout)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
		return errors.Join(fmt.Errorf("the %s still runs %s after %s", p.name, endTimeout, signal), p.End(syscall.SIGKILL))
	}
	if state := p.process.ProcessState; signal == syscall.SIGTERM && !state.Success() {
		return fmt.Errorf("the %s failed after SIGTERM: %s", p.name, state)
	}
	return nil
}

// Log returns the last lines of the log, or the error if they cannot be read.
func (p *Program) Log(lines int) string { return Tail(p.logFile, lines) }

// Tail returns the last lines of a file, or the error if they cannot be read.
func Tail(path string, lines int) string {
	content, err := os.ReadFile(path) //nolint:gosec // tests choose their files
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimSpace(string(content)), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// Output runs another program and returns its output. An error contains the program's error output.
func Output(ctx context.Context, name string, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, name, args...) //nolint:gosec // tests choose their programs
	var complaints strings.Builder
	command.Stderr = &complaints
	out, err := command.Output()
	if err != nil {
		return out, fmt.Errorf("%s %s: %w: %s", filepath.Base(name), strings.Join(args, " "), err, complaints.String())
	}
	return out, nil
}
