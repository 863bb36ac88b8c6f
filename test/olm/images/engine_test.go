//go:build images

package images

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// engine is a container engine with a storage of its own.
type engine struct {
	name string
	// registry is the host that it pulls from and pushes to.
	registry string
	// environment has it use its own storage, and the registry without TLS.
	environment []string
}

// storage is shared by the engines of a run: what one has built the other need not.
var storage string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if storage, err = os.MkdirTemp("", "images-"); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(storage)
		return m.Run()
	}())
}

// newEngine prepares an engine, and skips the test if this machine does not let it work.
func newEngine(t *testing.T, name, registry string) *engine {
	t.Helper()
	registries := filepath.Join(t.TempDir(), "registries.conf")
	write(t, registries, fmt.Sprintf("[[registry]]\nlocation = %q\ninsecure = true\n", registry))
	config := filepath.Join(storage, "storage.conf")
	e := &engine{name: name, registry: registry, environment: append(os.Environ(),
		"CONTAINERS_STORAGE_CONF="+config, "CONTAINERS_REGISTRIES_CONF="+registries,
		// Without namespaces: they are not to be had in every container.
		"BUILDAH_ISOLATION=chroot")}
	var complaints string
	// A file system of layers cannot lie upon another one, as in a container.
	for _, driver := range []string{"overlay", "vfs"} {
		write(t, config, fmt.Sprintf("[storage]\ndriver = %q\ngraphroot = %q\nrunroot = %q\n",
			driver, filepath.Join(storage, driver, "graph"), filepath.Join(storage, driver, "run")))
		out, err := e.command(t, name, "info").CombinedOutput()
		if err == nil {
			return e
		}
		complaints += fmt.Sprintf("%s: %s", driver, out)
	}
	t.Skipf("%s cannot store images on this machine: %s", name, complaints)
	return nil
}

func (e *engine) command(t *testing.T, program string, args ...string) *exec.Cmd {
	command := exec.CommandContext(t.Context(), program, args...)
	command.Env = e.environment
	return command
}

// make runs a target of the Makefile with the engine.
func (e *engine) make(t *testing.T, target string, variables ...string) {
	t.Helper()
	args := append([]string{"-C", repository, target, "CONTAINER_TOOL=" + e.name, "PLATFORMS=" + platforms, "PUSH_FLAGS=--tls-verify=false"}, variables...)
	if out, err := e.command(t, "make", args...).CombinedOutput(); err != nil {
		t.Fatalf("make %s with %s: %v: %s", target, e.name, err, out)
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
