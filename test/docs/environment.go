package docs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/program"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/wait"
)

// environment is the checkout, programs and shell that a scenario runs in.
type environment struct {
	// checkout is the path of a clean checkout of the repository.
	checkout string
	// bin contains the prebuilt programs and Helm.
	bin string

	variables []string
	blocks    []block
	shell     *shell
	// before are the objects that mentioned Darkroom before the scenario.
	before []string
}

// Run runs the scenarios of a setting in a clean checkout of a repository, with prebuilt programs from a folder.
func Run(t *testing.T, repository, bin string, setting Setting) {
	t.Helper()
	e := &environment{checkout: filepath.Join(t.TempDir(), "darkroom-operator"), bin: bin}
	path := strings.Join([]string{filepath.Join(e.checkout, "bin", "k8s"), filepath.Join(bin, "tools"), os.Getenv("PATH")},
		string(filepath.ListSeparator))
	e.variables = append(os.Environ(), "PATH="+path, "GOFLAGS=-buildvcs=false", "MAKEFLAGS=", "MAKELEVEL=")
	err := e.clone(t.Context(), repository)
	if err == nil {
		e.blocks, err = allBlocks(e.checkout)
	}
	if err == nil && setting == Node {
		err = e.serveExample(t)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, scenario := range scenarios {
		if scenario.setting != setting {
			continue
		}
		if !t.Run(scenario.name, func(t *testing.T) { e.run(t, scenario.steps) }) {
			return // the leftovers would fail other scenarios
		}
	}
}

// clone clones the committed files. The programs of the test cluster and the tools are copied from bin/, because
// compiling them takes a quarter of an hour and yields the same result.
func (e *environment) clone(ctx context.Context, repository string) error {
	dirty, err := program.Output(ctx, "git", "-C", repository, "-c", "safe.directory=*", "status", "--porcelain")
	if err != nil {
		return err
	}
	if len(dirty) > 0 {
		fmt.Fprintf(os.Stderr, "these changes are not committed, and therefore not tested:\n%s", dirty)
	}
	if _, err := program.Output(ctx, "git", "-c", "safe.directory=*", "clone", "--quiet",
		repository, e.checkout); err != nil {
		return err
	}
	err = os.Mkdir(filepath.Join(e.checkout, "bin"), 0o755)
	for _, name := range []string{"k8s", "tools"} {
		err = errors.Join(err, os.Symlink(filepath.Join(e.bin, name), filepath.Join(e.checkout, "bin", name)))
	}
	return err
}

func (e *environment) run(t *testing.T, steps []step) {
	t.Helper()
	var err error
	if e.shell, err = startShell(e.checkout, e.variables); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.shell.close(); err != nil {
			t.Error(err)
		}
	}()
	if e.before, err = e.speaking(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, step := range steps {
		began := time.Now()
		if step.do == nil {
			err = e.read(t, step.name)
		} else {
			err = step.do(t.Context(), e)
		}
		if err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		t.Logf("%s: %.1fs", step.name, time.Since(began).Seconds())
	}
}

// read runs the commands of a block, or of the blocks of a section or page.
func (e *environment) read(t *testing.T, name string) error {
	t.Helper()
	blocks, err := find(e.blocks, name)
	if err != nil {
		return err
	}
	for _, block := range blocks {
		t.Logf("%s\n%s", block, block.text)
		if block.language != "console" {
			said, err := e.shell.run(t.Context(), block.text)
			t.Log(said)
			if err != nil {
				return fmt.Errorf("%s: %w", block, err)
			}
			continue
		}
		all, err := exchanges(block.text)
		if err != nil {
			return fmt.Errorf("%s: %w", block, err)
		}
		for _, each := range all {
			if err := e.shell.ask(t.Context(), each); err != nil {
				return fmt.Errorf("%s: %s: %w", block, each.command, err)
			}
		}
	}
	return nil
}

// command runs a program in the checkout like the shell, and returns its output.
func (e *environment) command(ctx context.Context, input string, program string, args ...string) (string, error) {
	// The program is looked up in the scenario's PATH.
	command := exec.CommandContext(ctx, "/usr/bin/env", append([]string{program}, args...)...)
	command.Dir, command.Env, command.Stdin = e.checkout, e.variables, strings.NewReader(input)
	var complaints bytes.Buffer
	command.Stderr = &complaints
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", program, strings.Join(args, " "), err, complaints.String())
	}
	return string(out), nil
}

func (e *environment) kubectl(ctx context.Context, args ...string) (string, error) {
	return e.command(ctx, "", "kubectl", args...)
}

// until waits until a check returns no error. Its timeout is only for hangs, because machines are shared.
func until(ctx context.Context, what string, check func(context.Context) error) error {
	return wait.Limits{Timeout: 4 * time.Minute, Period: 4 * pollPeriod}.Until(ctx, what, check)
}
