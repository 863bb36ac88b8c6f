package build

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
)

// programs is the folder of the real go.mod.
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

// other lists modules that the operator and the programs use in different versions, each with the reason.
var other = map[string]string{
	"sigs.k8s.io/gateway-api": "Traefik is written for the version that it requires",
}

// TestTheOperatorSharesVersionsWithThePrograms compares go.mod with the go.mod of the programs: equal versions are
// compiled once, and they are most of the operator's dependencies.
func TestTheOperatorSharesVersionsWithThePrograms(t *testing.T) {
	versions := func(path string) map[string]string {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := modfile.Parse(path, text, nil)
		if err != nil {
			t.Fatal(err)
		}
		of := map[string]string{}
		for _, require := range parsed.Require {
			of[require.Mod.Path] = require.Mod.Version
		}
		for _, replace := range parsed.Replace {
			if replace.Old.Path == replace.New.Path {
				of[replace.New.Path] = replace.New.Version
			}
		}
		return of
	}
	operator, shared := versions("../../../../go.mod"), 0
	for path, version := range versions(programs + "/go.mod") {
		switch own, both := operator[path]; {
		case !both:
		case own == version:
			shared++
		case other[path] == "":
			t.Errorf("the programs use %s %s, the operator %s", path, version, own)
		}
	}
	if shared < 50 {
		t.Errorf("only %d modules are shared", shared)
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
		t.Error("built again for no reason")
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
		t.Errorf("a failed build must show the compiler's error, got %v", err)
	}
}
