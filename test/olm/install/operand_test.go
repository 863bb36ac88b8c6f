package install

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// cgoProgram is a program that links C, as Darkroom does, and resolves names.
const cgoProgram = `package main

/*
static int twice(int n) { return 2 * n; }
*/
import "C"

import (
	"fmt"
	"net"
)

func main() {
	_, err := net.LookupHost("localhost")
	fmt.Println(C.twice(21), err == nil)
}
`

// TestTheOperandIsBuiltOfOneCommitAlone builds another program with hack/operand.sh, because the source of Darkroom is
// not available here.
func TestTheOperandIsBuiltOfOneCommitAlone(t *testing.T) {
	for _, tool := range []string{"git", "readelf"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	if _, err := exec.LookPath("x86_64-linux-gnu-gcc"); err != nil || runtime.GOARCH != "amd64" {
		t.Skip("no C compiler for amd64, or another machine", err)
	}
	source, output := t.TempDir(), t.TempDir()
	write := func(name, text string) { must(t, os.WriteFile(filepath.Join(source, name), []byte(text), 0o600)) }
	git := func(args ...string) string {
		t.Helper()
		out, err := exec.CommandContext(t.Context(), "git",
			append([]string{"-C", source, "-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("git %s: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	write("go.mod", "module example.com/operand\n\ngo 1.20\n")
	write("main.go", cgoProgram)
	git("init", "--quiet")
	git("add", ".")
	git("commit", "--quiet", "--message", "a program")
	commit := git("rev-parse", "HEAD")
	build := func(commit, architectures string) (string, error) {
		command := exec.CommandContext(t.Context(), filepath.Join(repository, "hack", "operand.sh"), source, commit)
		command.Env = append(os.Environ(), "OUTPUT="+output, "ARCHITECTURES="+architectures, "GOFLAGS=")
		out, err := command.CombinedOutput()
		return string(out), err
	}

	runs := map[string][]string{"amd64": nil}
	if _, err := exec.LookPath("aarch64-linux-gnu-gcc"); err == nil {
		runs["arm64"] = []string{"qemu-aarch64-static"}
	}
	architectures := slices.Sorted(maps.Keys(runs))
	out, err := build(commit, strings.Join(architectures, " "))
	if err != nil || !strings.Contains(out, "licenses of all modules: found") {
		t.Fatalf("%v: %s", err, out)
	}
	for _, arch := range architectures {
		if !strings.Contains(out, arch+": static, of "+commit+" without changes, with go1.") {
			t.Errorf("%s: %s", arch, out)
		}
		command := slices.Concat(runs[arch], []string{filepath.Join(output, "darkroom-linux-"+arch)})
		said, err := exec.CommandContext(t.Context(), command[0], command[1:]...).CombinedOutput()
		if err != nil || string(said) != "42 true\n" {
			t.Errorf("the program for %s printed %q (%v)", arch, said, err)
		}
	}
	refused := func(commit, architectures, why string) {
		t.Helper()
		if out, err := build(commit, architectures); err == nil || !strings.Contains(out, why) {
			t.Errorf("%v: got %q, want %q", err, out, why)
		}
	}
	refused("v0.4.2", "amd64", "name the whole commit")
	refused(strings.Repeat("0", 40), "amd64", "check out 0000")
	refused(commit, "s390x", "s390x: the architectures are")
	write("main.go", cgoProgram+"\n// changed\n")
	refused(commit, "amd64", "has changes")
}
