//go:build images

package images

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

const (
	repository = "../../.."
	// platforms are what a release is built for.
	platforms = "linux/amd64,linux/arm64"
)

// setting is what `make test-images` was called with.
func setting(t *testing.T, name string) string {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		t.Fatalf("%s is not set: run `make test-images`", name)
	}
	return value
}

// forEachEngine runs a test with each engine that is installed.
func forEachEngine(t *testing.T, test func(*testing.T, *engine)) {
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		t.Skip("mounting the compilers into a build needs root on Linux")
	}
	host := startRegistry(t)
	found := false
	for _, name := range []string{"buildah", "podman"} {
		if _, err := exec.LookPath(name); err != nil {
			continue
		}
		found = true
		t.Run(name, func(t *testing.T) { test(t, newEngine(t, name, host)) })
	}
	if !found {
		t.Skip("neither buildah nor podman is installed (apt-get install -y buildah)")
	}
}

// output runs a program of this machine and returns the line that it prints.
func output(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), program, args...).Output()
	if err != nil {
		t.Fatalf("%s %s: %v", filepath.Base(program), strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out))
}
