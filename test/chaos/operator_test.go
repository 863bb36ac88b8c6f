//go:build chaos

package chaos

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/child"
)

const (
	operatorNamespace = "darkroom-system"
	operatorAccount   = "darkroom-operator-controller-manager"
)

// operator is a process of the built binary, with the rights that config/default gives it.
type operator struct {
	name   string
	health string
	done   chan struct{}

	mu      sync.Mutex
	process *exec.Cmd
	ending  bool
}

var (
	running   = map[*operator]bool{}
	runningMu sync.Mutex
)

// launch starts an operator; it looks at each Darkroom every ten seconds.
func launch(t *testing.T, name string, flags ...string) *operator {
	t.Helper()
	return launchAs(t, filepath.Join(scratch, "kubeconfig"), name, flags...)
}

// launchAs is launch for an operator that reaches the API server by another kubeconfig.
func launchAs(t *testing.T, kubeconfig, name string, flags ...string) *operator {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	health := listener.Addr().String()
	listener.Close()
	log, err := os.OpenFile(filepath.Join(scratch, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	command := func() *exec.Cmd {
		process := exec.Command(filepath.Join(binaries, "darkroom-operator"), append([]string{
			"manager", "--log-format", "console", "--metrics-bind-address", "0",
			"--health-probe-bind-address", health, "--reconcile-period", "10s",
		}, flags...)...)
		process.Dir = repository
		process.Env = []string{"KUBECONFIG=" + kubeconfig, "HOME=/nonexistent"}
		process.Stdout, process.Stderr = log, log
		return process
	}
	process := command()
	if err := child.Start(process); err != nil {
		t.Fatal(err)
	}
	o := &operator{name: name, health: "http://" + health, process: process, done: make(chan struct{})}
	runningMu.Lock()
	running[o] = true
	runningMu.Unlock()
	go func() {
		defer log.Close()
		defer close(o.done)
		// It ends without an error when the cluster gains or loses a kind, and a kubelet would
		// restart it.
		for process.Wait() == nil && o.restart(command()) {
			process = o.process
		}
	}()
	return o
}

// restart starts another process of the operator, and reports whether it did.
func (o *operator) restart(process *exec.Cmd) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ending || child.Start(process) != nil {
		return false
	}
	o.process = process
	return true
}

// start is launch, and waits until the operator is ready.
func start(t *testing.T, name string, flags ...string) *operator {
	t.Helper()
	return launch(t, name, flags...).waitReady(t)
}

// waitReady waits until the operator is ready, and returns it.
func (o *operator) waitReady(t *testing.T) *operator {
	t.Helper()
	eventually(t, o.name+" is ready", func(ctx context.Context) error {
		select {
		case <-o.done:
			return fmt.Errorf("it ended: %s", o.process.ProcessState)
		default:
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, o.health+"/readyz", nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("readyz answers %d", response.StatusCode)
		}
		return nil
	})
	return o
}

// alive reports whether the operator still runs.
func (o *operator) alive() error {
	select {
	case <-o.done:
		return fmt.Errorf("operator %s ended: %s", o.name, o.process.ProcessState)
	default:
		return nil
	}
}

func (o *operator) end(signal syscall.Signal) {
	o.mu.Lock()
	o.ending = true
	err := o.process.Process.Signal(signal)
	o.mu.Unlock()
	if err != nil && !errors.Is(err, os.ErrProcessDone) {
		fmt.Fprintln(os.Stderr, err)
	}
	<-o.done
	runningMu.Lock()
	delete(running, o)
	runningMu.Unlock()
}

func (o *operator) kill() { o.end(syscall.SIGKILL) }

func killAll() {
	runningMu.Lock()
	left := make([]*operator, 0, len(running))
	for o := range running {
		left = append(left, o)
	}
	runningMu.Unlock()
	for _, o := range left {
		o.kill()
	}
}

func logTail() string {
	files, _ := filepath.Glob(filepath.Join(scratch, "*.log"))
	var out strings.Builder
	for _, file := range files {
		content, _ := os.ReadFile(file)
		lines := strings.Split(strings.TrimSpace(string(content)), "\n")
		fmt.Fprintf(&out, "--- %s\n%s\n", filepath.Base(file), strings.Join(lines[max(0, len(lines)-40):], "\n"))
	}
	return out.String()
}
