package install

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestAVersionThatWasReleasedNeverChanges builds a repository with a release, and changes a part that has its own
// version.
func TestAVersionThatWasReleasedNeverChanges(t *testing.T) {
	script, err := filepath.Abs(filepath.Join(repository, "hack", "versions.sh"))
	must(t, err)
	for name, c := range map[string]struct {
		file, content, version string
		refused                bool
	}{
		"nothing":                    {},
		"the gate":                   {file: "gate/main.go", content: "package main // 2", refused: true},
		"the gate and its version":   {file: "gate/main.go", content: "package main // 2", version: "0.2.0"},
		"a new file of the gate":     {file: "gate/new.go", content: "package main", refused: true},
		"a test of the gate":         {file: "gate/main_test.go", content: "package main // 2"},
		"a template of the chart":    {file: "helm-charts/darkroom/templates/a.yaml", content: "a: 2", refused: true},
		"a file that has no version": {file: "README.md", content: "2"},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			write := func(file, content string) {
				path := filepath.Join(folder, file)
				must(t, os.MkdirAll(filepath.Dir(path), 0o700))
				must(t, os.WriteFile(path, []byte(content+"\n"), 0o600))
			}
			git := func(args ...string) {
				command := exec.CommandContext(t.Context(), "git",
					append([]string{"-C", folder, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
				if out, err := command.CombinedOutput(); err != nil {
					t.Fatalf("git %q: %v: %s", args, err, out)
				}
			}
			for file, content := range map[string]string{
				"gate/VERSION": "0.1.0", "gate/main.go": "package main", "gate/main_test.go": "package main", "README.md": "1",
				"helm-charts/darkroom/Chart.yaml":       "name: darkroom\nversion: 0.1.0",
				"helm-charts/darkroom/templates/a.yaml": "a: 1",
			} {
				write(file, content)
			}
			git("init", "--quiet")
			git("add", ".")
			git("commit", "--quiet", "--message", "release")
			git("tag", "v0.1.0")
			if c.file != "" {
				write(c.file, c.content)
			}
			if c.version != "" {
				write("gate/VERSION", c.version)
			}
			git("add", ".")
			git("commit", "--quiet", "--allow-empty", "--message", "change")
			out, err := exec.CommandContext(t.Context(), script, folder).CombinedOutput()
			if refused := err != nil; refused != c.refused || refused && !strings.Contains(string(out), "increase its version") {
				t.Errorf("got %v: %s", err, out)
			}
		})
	}
}
