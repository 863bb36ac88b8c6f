//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/child"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/wait"
)

// stopPatience is for how long an operator may take to end after SIGTERM.
const stopPatience = 30 * time.Second

// operator is the process of the operator, started and ended many times.
type operator struct {
	kubeconfig, logFile    string
	metricsURL, healthURL  string
	metricsBind, probeBind string

	mu      sync.Mutex
	process *exec.Cmd
	done    chan struct{}
	// expected means that a test ends the process.
	expected bool
}

func newOperator(kubeconfig, logFile string) (*operator, error) {
	o := &operator{kubeconfig: kubeconfig, logFile: logFile}
	var err error
	if o.metricsBind, err = freeAddress(); err != nil {
		return nil, err
	}
	if o.probeBind, err = freeAddress(); err != nil {
		return nil, err
	}
	o.metricsURL = "https://" + o.metricsBind + "/metrics"
	o.healthURL = "http://" + o.probeBind
	return o, nil
}

// freeAddress returns a free address of loopback.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}

// start starts the operator and returns once it is ready.
func (o *operator) start(ctx context.Context, flags ...string) error {
	if err := o.launch(flags...); err != nil {
		return err
	}
	return o.waitReady(ctx)
}

// launch starts the operator.
func (o *operator) launch(flags ...string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	log, err := os.OpenFile(o.logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the operator's log: %w", err)
	}
	defer log.Close()
	process := exec.Command(filepath.Join(binaries, "darkroom-operator"), append([]string{
		"manager", "--base-domain", baseDomain, "--log-format", "console",
		"--metrics-bind-address", o.metricsBind, "--health-probe-bind-address", o.probeBind,
		// This process cannot resolve the names of Services.
		"--probe-via", "apiserver",
	}, flags...)...)
	process.Dir = repository // where watches.yaml is
	process.Env = []string{"KUBECONFIG=" + o.kubeconfig, "HOME=/nonexistent"}
	process.Stdout, process.Stderr = log, log
	if err := child.Start(process); err != nil {
		return fmt.Errorf("start the operator: %w", err)
	}
	done := make(chan struct{})
	o.process, o.done, o.expected = process, done, false
	go func() {
		_ = process.Wait() // how it ended is in ProcessState
		close(done)
	}()
	return nil
}

func (o *operator) waitReady(ctx context.Context) error {
	return poll(ctx, "the operator is ready", func(ctx context.Context) error {
		if err := o.ended(); err != nil {
			return wait.Permanent(err)
		}
		status, _, err := o.probe(ctx, "/readyz")
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("readyz answers %d", status)
		}
		return err
	})
}

// probe asks one of the health endpoints.
func (o *operator) probe(ctx context.Context, path string) (status int, body string, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, o.healthURL+path, nil)
	if err != nil {
		return 0, "", err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	return response.StatusCode, string(content), err
}

// ended says so if the process ended though no test wanted it to.
func (o *operator) ended() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.expected || o.done == nil {
		return nil
	}
	select {
	case <-o.done:
		return fmt.Errorf("the operator ended by itself: %s", o.process.ProcessState)
	default:
		return nil
	}
}

// stop has the operator end in good order.
func (o *operator) stop() error {
	done, err := o.signal(syscall.SIGTERM)
	if err != nil || done == nil {
		return err
	}
	timer := time.NewTimer(stopPatience)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		return errors.Join(fmt.Errorf("the operator still runs %s after SIGTERM", stopPatience), o.kill())
	}
	if code := o.process.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("the operator ended with code %d after SIGTERM", code)
	}
	return nil
}

// kill ends the operator in the middle of its work.
func (o *operator) kill() error {
	done, err := o.signal(syscall.SIGKILL)
	if err != nil || done == nil {
		return err
	}
	<-done
	return nil
}

// signal returns nil in place of a channel when no process was started.
func (o *operator) signal(signal os.Signal) (chan struct{}, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.process == nil {
		return nil, nil //nolint:nilnil // as documented
	}
	o.expected = true
	if err := o.process.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return nil, fmt.Errorf("signal the operator: %w", err)
	}
	return o.done, nil
}

// logTail returns the last lines of the log.
func (o *operator) logTail(lines int) string {
	content, err := os.ReadFile(o.logFile)
	if err != nil {
		return err.Error()
	}
	all := strings.Split(strings.TrimRight(string(content), "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
