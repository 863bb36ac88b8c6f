//go:build e2e

package e2e

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/images"
)

// Not parallel: the memory of one container is reduced until the kernel kills a process.
func TestAGateOutlivesADarkroomThatRunsOutOfMemory(t *testing.T) {
	darkroom := newGated(t, "starved", theSources.folderURL, v1alpha1.Gate{})
	// The Service is bypassed, because a pod whose container is killed is briefly not ready.
	gate := "http://" + onlyPod(t, darkroom).Status.PodIP + ":3000"
	if status, _, err := through(t.Context(), gate, hostOf(darkroom), imagePath+"?w=60"); err != nil ||
		status != http.StatusOK {
		t.Fatalf("an image before: %d %v", status, err)
	}
	memory := memoryOf(t, processOf(t, darkroom, "darkroom"))
	usage := memory.read(t, "memory.usage_in_bytes", "memory.current")
	limit := usage + 6<<20
	memory.write(t, strconv.FormatInt(limit, 10), "memory.limit_in_bytes", "memory.max")

	// This image needs more than 40 MiB. The gate does not know that this memory is missing.
	status, body, err := through(t.Context(), gate, hostOf(darkroom), imagePath+"?w=4000&h=2600&fit=scale&mono=000000")
	if err != nil || status != http.StatusServiceUnavailable ||
		!strings.Contains(string(body), "Darkroom is not available") {
		t.Errorf("an image that needs more than the limit: %d %.200q %v", status, body, err)
	}
	status, _, err = through(t.Context(), gate, hostOf(darkroom), imagePath+"?w=60")
	if err != nil || status != http.StatusOK {
		t.Errorf("a known image meanwhile: %d %v", status, err)
	}
	memory.mustHaveKilled(t, darkroom)
	eventually(t, "Darkroom transforms images again", func(ctx context.Context) error {
		status, body, err := through(ctx, gate, hostOf(darkroom), imagePath+"?w=133&mono=000000")
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("%d %.200q", status, body)
		}
		return cmp.Or(err, images.Check(body, 133))
	})
}

// controlGroup returns the directory of a container's memory cgroup, in version 1 or 2.
type controlGroup string

func memoryOf(t *testing.T, process string) controlGroup {
	t.Helper()
	groups, err := os.ReadFile(filepath.Join(process, "cgroup"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(groups)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		for controller, root := range map[string]string{"memory": "/sys/fs/cgroup/memory", "": "/sys/fs/cgroup"} {
			folder := filepath.Join(root, fields[2])
			if _, err := os.Stat(filepath.Join(folder, "cgroup.procs")); err == nil && fields[1] == controller {
				return controlGroup(folder)
			}
		}
	}
	t.Skip("the memory of containers is not visible")
	return ""
}

// file returns the first existing file.
func (c controlGroup) file(t *testing.T, names ...string) string {
	t.Helper()
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(string(c), name)); err == nil {
			return filepath.Join(string(c), name)
		}
	}
	t.Fatalf("%s has none of %v", c, names)
	return ""
}

func (c controlGroup) read(t *testing.T, names ...string) int64 {
	t.Helper()
	content, err := os.ReadFile(c.file(t, names...))
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(content)), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func (c controlGroup) write(t *testing.T, value string, names ...string) {
	t.Helper()
	if err := os.WriteFile(c.file(t, names...), []byte(value), 0o600); err != nil {
		t.Fatal(err)
	}
}

// mustHaveKilled fails the test unless the kernel has killed a process, or the whole container.
func (c controlGroup) mustHaveKilled(t *testing.T, darkroom *v1alpha1.Darkroom) {
	t.Helper()
	for _, name := range []string{"memory.oom_control", "memory.events"} {
		content, _ := os.ReadFile(filepath.Join(string(c), name)) // of the other version, or removed with the container
		for line := range strings.Lines(string(content)) {
			if kills, found := strings.CutPrefix(line, "oom_kill "); found && strings.TrimSpace(kills) != "0" {
				return
			}
		}
	}
	eventually(t, "the container was killed because of its memory", func(context.Context) error {
		ended := containerStatus(t, darkroom, "darkroom").LastTerminationState.Terminated
		if ended == nil || ended.Reason != "OOMKilled" {
			return fmt.Errorf("%+v", ended)
		}
		return nil
	})
}

func TestAGateOutlivesItsDisk(t *testing.T) {
	t.Parallel()
	darkroom := newGated(t, "diskless", theSources.folderURL,
		v1alpha1.Gate{Cache: &v1alpha1.GateCache{Disk: ptr.To(resource.MustParse("64Mi"))}})
	// The volume from the program's point of view.
	folder := func() string { return filepath.Join(processOf(t, darkroom, "gate"), "root", "cache") }
	ask := func(when string, widths ...int) {
		t.Helper()
		for _, width := range widths {
			if err := serves(t.Context(), hostOf(darkroom), width); err != nil {
				t.Errorf("%s: %v", when, err)
			}
		}
	}
	ask("before", 61, 62)
	files := func() int {
		t.Helper()
		entries, err := os.ReadDir(folder())
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	eventually(t, "files are in the cache", func(context.Context) error {
		if n := files(); n < 2 {
			return fmt.Errorf("%d files", n)
		}
		return nil
	})
	cache := folder()
	entries, _ := os.ReadDir(cache)
	for _, entry := range entries {
		if err := os.Remove(filepath.Join(cache, entry.Name())); err != nil {
			t.Fatal(err)
		}
	}
	ask("without its files", 61, 62, 63)

	if err := os.Chown(cache, 0, 0); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(cache, 0o555); err != nil {
		t.Fatal(err)
	}
	before := files()
	ask("without the right to write", 61, 64, 65)
	kill(t, darkroom, "gate")
	eventually(t, "the gate is restarted", func(ctx context.Context) error {
		if status := containerStatus(t, darkroom, "gate"); status.RestartCount == 0 || !status.Ready {
			return fmt.Errorf("%+v", status)
		}
		return serves(ctx, hostOf(darkroom), 66)
	})
	ask("after a restart without the right to write", 61, 67)
	if after := files(); after != before {
		t.Errorf("%d files, before %d: the cache was written", after, before)
	}
}
