package docs

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/wait"
)

// Environment is the checkout, programs and shell that a scenario runs in.
type Environment struct {
	// Checkout is the path of a clean checkout of the repository.
	Checkout string
	// Bin has the programs that were built before, and Helm.
	Bin string

	environment []string
	blocks      []Block
	shell       *Shell
	// before are the objects that mentioned Darkroom before the scenario.
	before []string
}

// Checkout clones what is committed into a folder. The programs of the test cluster and
// the tools are those of bin/, since they take a quarter of an hour to compile; make would
// have built the same.
func Checkout(ctx context.Context, repository, bin, folder string) error {
	dirty, err := exec.CommandContext(ctx, "git", "-C", repository, "-c", "safe.directory=*", "status", "--porcelain").Output()
	if err != nil {
		return fmt.Errorf("look for changes in %s: %w", repository, err)
	}
	if len(dirty) > 0 {
		fmt.Fprintf(os.Stderr, "these changes are not committed, and therefore not tested:\n%s", dirty)
	}
	clone := exec.CommandContext(ctx, "git", "-c", "safe.directory=*", "clone", "--quiet", repository, folder)
	if said, err := clone.CombinedOutput(); err != nil {
		return fmt.Errorf("clone %s: %w: %s", repository, err, said)
	}
	if err := os.Mkdir(filepath.Join(folder, "bin"), 0o755); err != nil {
		return err
	}
	for _, name := range []string{"k8s", "tools"} {
		if err := os.Symlink(filepath.Join(bin, name), filepath.Join(folder, "bin", name)); err != nil {
			return err
		}
	}
	return nil
}

// NewEnvironment reads the documents of a checkout.
func NewEnvironment(checkout, bin string) (*Environment, error) {
	blocks, err := Blocks(checkout)
	if err != nil {
		return nil, err
	}
	path := strings.Join([]string{filepath.Join(checkout, "bin", "k8s"), filepath.Join(bin, "tools"), os.Getenv("PATH")}, string(filepath.ListSeparator))
	return &Environment{
		Checkout: checkout, Bin: bin, blocks: blocks,
		environment: append(os.Environ(), "PATH="+path, "GOFLAGS=-buildvcs=false", "MAKEFLAGS=", "MAKELEVEL="),
	}, nil
}

// Run runs a scenario.
func (s *Environment) Run(t *testing.T, scenario Scenario) {
	t.Helper()
	shell, err := startShell(s.Checkout, s.environment)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := shell.Close(); err != nil {
			t.Error(err)
		}
	}()
	s.shell = shell
	if s.before, err = s.speaking(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, step := range scenario.Steps {
		if err := step.take(t.Context(), t, s); err != nil {
			t.Fatal(err)
		}
	}
}

// command runs a program in the checkout, as the shell would, and returns what it writes.
func (s *Environment) command(ctx context.Context, input string, program string, args ...string) (string, error) {
	// Looked up in the scenario's PATH.
	command := exec.CommandContext(ctx, "/usr/bin/env", append([]string{program}, args...)...)
	command.Dir, command.Env, command.Stdin = s.Checkout, s.environment, strings.NewReader(input)
	var complaints bytes.Buffer
	command.Stderr = &complaints
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", program, strings.Join(args, " "), err, complaints.String())
	}
	return string(out), nil
}

func (s *Environment) kubectl(ctx context.Context, args ...string) (string, error) {
	return s.command(ctx, "", "kubectl", args...)
}

// until waits until a check finds nothing wrong.
func until(ctx context.Context, what string, check func(context.Context) error) error {
	return wait.Limits{Timeout: time.Minute, Period: 4 * pollPeriod}.Until(ctx, what, check)
}
