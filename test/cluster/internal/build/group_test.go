package build

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// module writes a module with two programs, which print a variable of a package that both
// import.
func module(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range map[string]string{
		"tiny/go.mod":          "module example.com/tiny\n\ngo 1.26.0\n",
		"tiny/go.sum":          "",
		"tiny/name/name.go":    "package name\n\nvar Name = \"unset\"\n",
		"tiny/first/main.go":   "package main\n\nimport \"example.com/tiny/name\"\n\nfunc main() { println(name.Name) }\n",
		"tiny/second/v3/go.go": "package main\n\nimport \"example.com/tiny/name\"\n\nfunc main() { println(name.Name) }\n",
	} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// program is a component of the module that reports a version.
func program(name, folder string) Component {
	return Component{Name: name, Package: folder, Binary: "first", VersionVars: func(string) map[string]string {
		return map[string]string{"example.com/tiny/name.Name": name}
	}}
}

func TestComponentsOfOneModuleAreBuiltTogether(t *testing.T) {
	out := &strings.Builder{}
	b := &Builder{OwnDir: filepath.Join(module(t), "tiny"), BinDir: filepath.Join(t.TempDir(), "bin"), Out: out}
	first, second := program("one", "./first"), program("two", "./second/v3")
	second.Binary = "second"
	if err := b.Build(t.Context(), []Component{first, second}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"one", "two"} {
		printed, err := exec.CommandContext(t.Context(), filepath.Join(b.BinDir, name)).CombinedOutput()
		if got := strings.TrimSpace(string(printed)); err != nil || got != name {
			t.Errorf("%s was linked with the version %q, %v", name, got, err)
		}
	}
	if n := strings.Count(out.String(), "building "); n != 1 {
		t.Errorf("%d builds:\n%s", n, out)
	}
	if left, err := filepath.Glob(filepath.Join(b.BinDir, ".new-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
