//go:build images

package images

import (
	"debug/elf"
	"maps"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// TestAnEngineMakesTheImageThatMakeImageMakes compares all that a container is made of:
// files, their owners and modes, user, entrypoint, labels. The program is the same to the
// byte, so it also proves that the build can be repeated.
func TestAnEngineMakesTheImageThatMakeImageMakes(t *testing.T) {
	without, err := tarball.ImageFromPath(filepath.Join(setting(t, "BIN_DIR"), "image.tar"), nil)
	if err != nil {
		t.Fatalf("read what `make image` made: %v", err)
	}
	version := setting(t, "VERSION")
	forEachEngine(t, func(t *testing.T, e *engine) {
		reference := e.registry + "/darkroom-operator:v" + version
		compilers, mounts := pushCompilers(t, e.registry)
		flags := []string{"--network", "host"}
		for _, mount := range mounts {
			flags = append(flags, "--volume", mount)
		}
		for arg, image := range map[string]string{"GO_IMAGE": compilers, "NODE_IMAGE": compilers, "BASE_IMAGE": pushBase(t, e.registry)} {
			flags = append(flags, "--build-arg", arg+"="+image)
		}
		variables := []string{"IMG=" + reference, "VERSION=" + version, "REVISION=" + setting(t, "REVISION"), "BUILD_FLAGS=" + strings.Join(flags, " ")}
		// As users do: for this machine first, and then for all.
		e.make(t, "docker-build", variables...)
		e.make(t, "docker-push", variables...)

		images := pulled(t, reference)
		for architecture, image := range images {
			got, want := configOf(t, image), configOf(t, without)
			if got.User != want.User || got.WorkingDir != want.WorkingDir || !slices.Equal(got.Entrypoint, want.Entrypoint) || !slices.Equal(got.Cmd, want.Cmd) {
				t.Errorf("%s runs %q %q as %q in %q, that of `make image` %q %q as %q in %q", architecture,
					got.Entrypoint, got.Cmd, got.User, got.WorkingDir, want.Entrypoint, want.Cmd, want.User, want.WorkingDir)
			}
			// The engine signs with its version.
			delete(got.Labels, "io.buildah.version")
			if !maps.Equal(got.Labels, want.Labels) {
				t.Errorf("%s has the labels %q, that of `make image` %q", architecture, got.Labels, want.Labels)
			}
			has, wants := contents(t, image), contents(t, without)
			if architecture != runtime.GOARCH {
				delete(has, "/darkroom-operator")
				delete(wants, "/darkroom-operator")
			}
			compare(t, has, wants)
		}
		isFor(t, file(t, images["amd64"], "/darkroom-operator"), elf.EM_X86_64)
		isFor(t, file(t, images["arm64"], "/darkroom-operator"), elf.EM_AARCH64)
		out, err := exec.CommandContext(t.Context(), file(t, images[runtime.GOARCH], "/darkroom-operator"), "--version").CombinedOutput()
		if err != nil || !strings.Contains(string(out), version) {
			t.Errorf("the program says: %s (%v)", out, err)
		}
	})
}

// isFor checks that a program is static and for a processor.
func isFor(t *testing.T, program string, processor elf.Machine) {
	t.Helper()
	f, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if f.Machine != processor || f.Section(".interp") != nil {
		t.Errorf("the program is for %s, not %s; is it static: %v", f.Machine, processor, f.Section(".interp") == nil)
	}
}
