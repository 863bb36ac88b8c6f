package cmd

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

func TestCode(t *testing.T) {
	tests := []struct {
		name string
		err  error
		code int
		says string
	}{
		{"success", nil, 0, ""},
		{"help", flag.ErrHelp, 0, ""},
		{"wrong usage has been explained already", errUsage, 2, ""},
		{"the command of exec failed", fmt.Errorf("wrapped: %w", exitError{7}), 7, ""},
		{"interrupted", fmt.Errorf("start: %w", context.Canceled), 130, "interrupted\n"},
		{"anything else", errors.New("no space"), 1, "error: no space\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			if got := code(test.err, &out); got != test.code || out.String() != test.says {
				t.Errorf("got %d %q, want %d %q", got, out.String(), test.code, test.says)
			}
		})
	}
}

func TestEveryCommandExplainsItself(t *testing.T) {
	for _, c := range commands() {
		var out bytes.Buffer
		flags := c.flags()
		flags.SetOutput(&out)
		if err := c.run(context.Background(), flags, []string{"-h"}); !errors.Is(err, flag.ErrHelp) {
			t.Errorf("cluster %s -h: %v", c.name, err)
		}
		if !bytes.Contains(out.Bytes(), []byte(c.summary)) {
			t.Errorf("cluster %s -h says %q", c.name, out.String())
		}
	}
}

func TestImageFlags(t *testing.T) {
	tests := []struct {
		name             string
		flags            imageFlags
		path, entrypoint string
	}{
		{"defaults", imageFlags{workdir: "/"}, "/darkroom", "/darkroom"},
		{"in the working directory", imageFlags{workdir: "/app"}, "/app/darkroom", "/app/darkroom"},
		{"an entrypoint of its own", imageFlags{workdir: "/app", entrypoint: "./darkroom"}, "/app/darkroom", "./darkroom"},
		{"a path of its own", imageFlags{workdir: "/", path: "/bin/d"}, "/bin/d", "/bin/d"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			i, err := test.flags.image("docker.io/gojektech/darkroom:v0.4.2=bin/darkroom")
			if err != nil {
				t.Fatal(err)
			}
			if i.Files[0].Path != test.path || i.Files[0].Source != "bin/darkroom" || !slices.Equal(i.Entrypoint, []string{test.entrypoint}) {
				t.Errorf("got %+v", i)
			}
		})
	}
}

func TestRunCommandPassesOnTheExitCode(t *testing.T) {
	tests := []struct {
		script string
		want   int
	}{{"exit 0", 0}, {"exit 7", 7}, {"kill -TERM $$", 128 + 15}}
	for _, test := range tests {
		err := runCommand(context.Background(), []string{"sh", "-c", test.script}, os.Environ())
		if got := code(err, &bytes.Buffer{}); got != test.want {
			t.Errorf("%s: got %d, want %d", test.script, got, test.want)
		}
	}
}

func TestRunCommandEndsTheCommandsChildrenToo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "group")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	script := fmt.Sprintf(`(trap "" TERM; echo $$ > %[1]q.new; mv %[1]q.new %[1]q; while :; do sleep 0.02; done) & wait`, file)
	done := make(chan error, 1)
	go func() { done <- runCommand(ctx, []string{"sh", "-c", script}, os.Environ()) }()
	var group int
	eventually(t, "the child starts", func() bool {
		data, err := os.ReadFile(file)
		if err != nil {
			return false
		}
		_, err = fmt.Sscan(string(data), &group)
		return err == nil
	})
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	eventually(t, "the child ends", func() bool { return errors.Is(syscall.Kill(-group, 0), syscall.ESRCH) })
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}
