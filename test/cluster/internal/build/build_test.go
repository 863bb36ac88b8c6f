package build

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// programs is where the real go.mod is.
const programs = "../../programs"

func TestEveryComponentHasAPinnedVersion(t *testing.T) {
	for _, c := range components {
		version, err := c.Version(programs)
		if err != nil {
			t.Error(err)
		}
		if !strings.HasPrefix(version, "v") {
			t.Errorf("%s has version %q", c.Name, version)
		}
		if c.Requires == "" {
			continue
		}
		// A build with -mod=readonly needs the checksums.
		sumFile := strings.TrimSuffix(c.modFile(), ".mod") + ".sum"
		sums, err := os.ReadFile(filepath.Join(programs, sumFile))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(sums), c.Requires+" "+version+" h1:") {
			t.Errorf("%s has no checksum of %s %s", sumFile, c.Requires, version)
		}
	}
}

func TestABinaryIsBuiltOnlyWhenItsInputsChange(t *testing.T) {
	own := t.TempDir()
	write := func(name, content string) {
		t.Helper()
		path := filepath.Join(own, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.com/tiny\n\ngo 1.26\n")
	write("tiny/main.go", "package main\n\nfunc main() {}\n")
	c := Component{Name: "tiny", Package: "./tiny"}
	b := &Builder{OwnDir: own, BinDir: filepath.Join(own, "bin"), Out: io.Discard}
	build := func() bool {
		t.Helper()
		before, _ := os.Stat(filepath.Join(b.BinDir, "tiny"))
		if err := b.Build(context.Background(), []Component{c}); err != nil {
			t.Fatal(err)
		}
		after, err := os.Stat(filepath.Join(b.BinDir, "tiny"))
		if err != nil {
			t.Fatal(err)
		}
		return before == nil || !os.SameFile(before, after)
	}

	if !build() {
		t.Error("not built at first")
	}
	if build() {
		t.Error("built again without a reason")
	}
	write("tiny/main.go", "package main\n\nfunc main() { println() }\n")
	if !build() {
		t.Error("not built after its source changed")
	}
	if err := os.Remove(filepath.Join(b.BinDir, "tiny")); err != nil {
		t.Fatal(err)
	}
	if !build() {
		t.Error("not built after it was removed")
	}
	write("tiny/main.go", "package main\n\nfunc main() { undefined() }\n")
	err := b.Build(context.Background(), []Component{c})
	if err == nil || !strings.Contains(err.Error(), "undefined: undefined") {
		t.Errorf("a failed build must show the compiler's words, got %v", err)
	}
}
