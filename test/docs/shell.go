package docs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	// timeout bounds the run of a block. Some blocks compile.
	timeout = 10 * time.Minute
	// askPatience is the time limit for an answer.
	askPatience = 3 * time.Minute
	// pollPeriod is the interval at which the output of a command is checked.
	pollPeriod = 100 * time.Millisecond
)

// Shell is a bash that runs blocks as if a reader typed them. A command that fails ends
// it.
type Shell struct {
	folder  string
	process *exec.Cmd
	script  io.WriteCloser
	done    chan string
	steps   int
}

// startShell starts a shell in a folder. Its background processes end with it.
func startShell(folder string, environment []string) (*Shell, error) {
	scratch, err := os.MkdirTemp("", "docs-shell-")
	if err != nil {
		return nil, err
	}
	scriptEnd, script, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer scriptEnd.Close()
	steps, stepsEnd, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer stepsEnd.Close()
	process := exec.Command("bash", "--noprofile", "--norc", "-euo", "pipefail", "/dev/fd/3")
	process.Dir, process.Env = folder, environment
	process.ExtraFiles = []*os.File{scriptEnd, stepsEnd}
	// A process group of its own, so that all its processes can be killed.
	process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := process.Start(); err != nil {
		return nil, fmt.Errorf("start a shell: %w", err)
	}
	s := &Shell{folder: scratch, process: process, script: script, done: make(chan string, 1)}
	go func() {
		defer steps.Close()
		defer close(s.done)
		for lines := bufio.NewScanner(steps); lines.Scan(); {
			s.done <- lines.Text()
		}
	}()
	return s, nil
}

// Close ends the shell and all that it has started.
func (s *Shell) Close() error {
	err := s.script.Close()
	_ = syscall.Kill(-s.process.Process.Pid, syscall.SIGKILL) // it may have ended
	_ = s.process.Wait()                                      // killed
	return errors.Join(err, os.RemoveAll(s.folder))
}

// run types commands, waits until the last has ended, and returns their output.
func (s *Shell) run(ctx context.Context, commands string) (string, error) {
	output, err := s.typeIn(commands, "")
	if err != nil {
		return "", err
	}
	err = s.wait(ctx, timeout, nil)
	said, readErr := os.ReadFile(output)
	return string(said), errors.Join(err, readErr)
}

// ask types a command and waits for the expected answer. A command that continues after
// that, such as a watch, is interrupted. The command may fail.
func (s *Shell) ask(ctx context.Context, e exchange) error {
	before, err := s.children()
	if err != nil {
		return err
	}
	output, err := s.typeIn(e.command, " || true")
	if err != nil {
		return err
	}
	check := func() error {
		got, err := os.ReadFile(output)
		if err != nil {
			return err
		}
		return answers(e.answer, string(got))
	}
	answered := func() bool {
		if e.answer == "" || check() != nil {
			return false
		}
		after, err := s.children()
		if err != nil {
			return false
		}
		for _, child := range after {
			if !slices.Contains(before, child) {
				_ = syscall.Kill(child, syscall.SIGTERM) // it may have ended
			}
		}
		return true
	}
	if err := s.wait(ctx, askPatience, answered); err != nil {
		return errors.Join(err, check())
	}
	return check()
}

// typeIn returns the file that the output goes to.
func (s *Shell) typeIn(commands, otherwise string) (string, error) {
	s.steps++
	file := filepath.Join(s.folder, fmt.Sprintf("step-%d", s.steps))
	if err := os.WriteFile(file, []byte(commands), 0o600); err != nil {
		return "", err
	}
	output := file + ".out"
	if err := os.WriteFile(output, nil, 0o600); err != nil {
		return "", err
	}
	// A group, not a subshell: variables stay.
	_, err := fmt.Fprintf(s.script, "{ . %s%s; } >>%s 2>&1 </dev/null 3<&- 4>&-\necho done >&4\n", file, otherwise, output)
	if err != nil {
		return "", fmt.Errorf("the shell has ended: %w", err)
	}
	return output, nil
}

// wait waits until what was typed has ended. An early end is brought about by the
// function, which is called every now and then.
func (s *Shell) wait(ctx context.Context, timeout time.Duration, end func() bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("not done after %s", timeout))
	defer cancel()
	ticker := time.NewTicker(pollPeriod)
	defer ticker.Stop()
	for {
		select {
		case _, open := <-s.done:
			if !open {
				return errors.New("a command failed")
			}
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
			if end != nil && end() {
				end = nil
			}
		}
	}
}

// children are the processes that the shell has started and that still run.
func (s *Shell) children() ([]int, error) {
	pid := s.process.Process.Pid
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	if err != nil {
		return nil, fmt.Errorf("look for what the shell runs: %w", err)
	}
	var children []int
	for _, field := range strings.Fields(string(text)) {
		var child int
		if _, err := fmt.Sscan(field, &child); err != nil {
			return nil, err
		}
		children = append(children, child)
	}
	return children, nil
}
