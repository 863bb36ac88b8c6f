package process

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestTailOfALog(t *testing.T) {
	tests := []struct {
		name, content string
		n             int
		want          string
	}{
		{"fewer lines than asked", "one\ntwo\n", 5, "one\ntwo"},
		{"only the last lines", "one\ntwo\nthree\n", 2, "two\nthree"},
		{"an empty file", "", 3, ""},
		{"more than is read at once", strings.Repeat("x", 100_000) + "\nlast\n", 1, "last"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log")
			if err := os.WriteFile(path, []byte(test.content), 0o644); err != nil {
				t.Fatal(err)
			}
			if got := Tail(path, test.n); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestStopEndsAProgramThatIgnoresTheRequest(t *testing.T) {
	dir := t.TempDir()
	p, err := Start(Spec{
		Name: "stubborn", Path: "/bin/sh", LogDir: dir,
		Args: []string{"-c", `trap "" TERM; echo ready; while :; do sleep 0.05; done`},
	})
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); Tail(p.LogPath(), 1) != "ready"; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the program did not start")
		}
	}
	if err := p.Stop(50 * time.Millisecond); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.Done():
	default:
		t.Error("the program still runs after Stop")
	}
}

func TestAProgramThatEndedIsExplainedByItsLog(t *testing.T) {
	p, err := Start(Spec{
		Name: "broken", Path: "/bin/sh", LogDir: t.TempDir(),
		Args: []string{"-c", "echo no such flag: --wrong >&2; exit 3"},
	})
	if err != nil {
		t.Fatal(err)
	}
	<-p.Done()
	message := p.Ended().Error()
	for _, want := range []string{"broken", "exit status 3", "no such flag: --wrong"} {
		if !strings.Contains(message, want) {
			t.Errorf("%q does not contain %q", message, want)
		}
	}
}

func TestProgramsGetNoProxy(t *testing.T) {
	got := withoutProxies([]string{"PATH=/bin", "HTTPS_PROXY=http://proxy:3128", "http_proxy=http://proxy:3128", "PROXY=kept"})
	if want := []string{"PATH=/bin", "PROXY=kept"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
