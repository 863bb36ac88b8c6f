package main

import (
	"bytes"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func TestAFullDiskIsOnlyASmallerCache(t *testing.T) {
	folder := t.TempDir()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("a small file system needs root: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(folder, syscall.MNT_DETACH) })
	g := start(t, newOrigin(t).url, map[string]string{"GATE_CACHE_FOLDER": folder, "GATE_CACHE_DISK_BYTES": "1073741824"})
	known := g.expect("/photo.jpg?w=10", http.StatusOK)
	g.waitUntil("the file is written",
		func() bool { files, _ := filepath.Glob(folder + "/[0-9a-f]*"); return len(files) == 1 })
	for width := 200; width < 230; width++ {
		g.expect("/photo.jpg?w="+strconv.Itoa(width), http.StatusOK)
	}
	if again := g.expect("/photo.jpg?w=10", http.StatusOK); !bytes.Equal(again.body, known.body) {
		t.Error("another image")
	}
	public := g.url
	g.url = g.metrics
	g.waitUntil("failures are counted, and leave no files", func() bool {
		left, _ := filepath.Glob(folder + "/tmp-*")
		return len(left) == 0 && !strings.Contains(string(g.expect("/metrics", http.StatusOK).body),
			"darkroom_gate_cache_disk_errors_total 0\n")
	})

	g.stop() // files are complete
	if err := <-g.stopped; err != nil {
		t.Fatal(err)
	}
	g.url = public
	g.run()
	if again := g.expect("/photo.jpg?w=10", http.StatusOK); !bytes.Equal(again.body, known.body) {
		t.Error("another image after a restart")
	}
}
