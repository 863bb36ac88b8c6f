package docs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// timeout limits the run of a block. Some blocks compile programs.
	timeout = 10 * time.Minute
	// askPatience limits the wait for an expected output.
	askPatience = 3 * time.Minute
	// pollPeriod is the interval at which the output of a command is checked.
	pollPeriod = 100 * time.Millisecond
)

// shell is a bash process that runs blocks as if typed by a reader. A failing command ends the shell.
type shell struct {
	folder  string
	process *exec.Cmd
	script  io.WriteCloser
	ended   chan struct{}
	steps   int
}

// startShell starts a shell in a folder. Its background processes end with it.
func startShell(folder string, environment []string) (*shell, error) {
	scratch, err := os.MkdirTemp("", "docs-shell-")
	if err != nil {
		return nil, err
	}
	process := exec.Command("bash", "--noprofile", "--norc", "-euo", "pipefail", "-s")
	process.Dir, process.Env = folder, environment
	// A separate process group, so that all its processes can be killed.
	process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	script, err := process.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := process.Start(); err != nil {
		return nil, fmt.Errorf("start a shell: %w", err)
	}
	s := &shell{folder: scratch, process: process, script: script, ended: make(chan struct{})}
	go func() {
		_ = process.Wait() // it was killed, or a command failed
		close(s.ended)
	}()
	return s, nil
}

// close ends the shell and all processes that it started.
func (s *shell) close() error {
	_ = syscall.Kill(-s.process.Process.Pid, syscall.SIGKILL) // it may have ended
	<-s.ended
	return os.RemoveAll(s.folder)
}

// run types commands, waits until the last one has ended, and returns their output.
func (s *shell) run(ctx context.Context, commands string) (string, error) {
	return s.typeIn(ctx, timeout, commands, func(string) error { return nil }, false)
}

// ask types a command and waits for the expected output. If curl continues after that, as in a watch, it is
// interrupted. The command may fail.
func (s *shell) ask(ctx context.Context, e exchange) error {
	// The command group's failure does not end the shell.
	command := "{ " + strings.TrimSpace(e.command) + "\n} || true\n"
	_, err := s.typeIn(ctx, askPatience, command, func(output string) error { return answers(e.answer, output) },
		e.answer != "")
	return err
}

// typeIn types commands and returns their output and any error. If requested, it interrupts curl once there is no
// error.
func (s *shell) typeIn(
	ctx context.Context, timeout time.Duration, commands string, check func(string) error, interrupt bool,
) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("not done after %s", timeout))
	defer cancel()
	s.steps++
	step := filepath.Join(s.folder, strconv.Itoa(s.steps))
	if err := os.WriteFile(step, []byte(commands), 0o600); err != nil {
		return "", err
	}
	// A group instead of a subshell, so that variables are kept.
	if _, err := fmt.Fprintf(s.script, "{ . %[1]s; } > %[1]s.out 2>&1 < /dev/null\ntouch %[1]s.done\n", step); err != nil {
		return "", fmt.Errorf("the shell has ended: %w", err)
	}
	ticker := time.NewTicker(pollPeriod)
	defer ticker.Stop()
	for {
		_, unfinished := os.Stat(step + ".done")
		text, _ := os.ReadFile(step + ".out") // missing until the step begins
		output := string(text)
		wrong := check(output)
		if unfinished == nil {
			return output, wrong
		}
		if interrupt && wrong == nil {
			_ = exec.Command("pkill", "-P", strconv.Itoa(s.process.Process.Pid), "curl").Run() // there may be none
		}
		select {
		case <-s.ended:
			text, _ := os.ReadFile(step + ".out")
			return string(text), errors.New("a command failed")
		case <-ctx.Done():
			return output, errors.Join(context.Cause(ctx), wrong)
		case <-ticker.C:
		}
	}
}
