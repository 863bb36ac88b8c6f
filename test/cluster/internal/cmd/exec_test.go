//go:build linux

package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/wait"
)

func TestRunCommandPassesOnTheExitCode(t *testing.T) {
	tests := []struct {
		script string
		want   int
	}{{"exit 0", 0}, {"exit 7", 7}, {"kill -TERM $$", 128 + 15}}
	for _, test := range tests {
		err := runCommand(context.Background(), []string{"sh", "-c", test.script}, os.Environ())
		if want := (exitError{test.want}); !errors.Is(err, want) && (err != nil || test.want != 0) {
			t.Errorf("%s: got %v, want %v", test.script, err, want)
		}
	}
}

func TestRunCommandEndsTheCommandsChildrenToo(t *testing.T) {
	file := filepath.Join(t.TempDir(), "group")
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	script := fmt.Sprintf(`(trap "" TERM; echo $$ > %[1]q.new; mv %[1]q.new %[1]q; while :; do sleep 0.02; done) & wait`,
		file)
	done := make(chan error, 1)
	go func() { done <- runCommand(ctx, []string{"sh", "-c", script}, os.Environ()) }()
	var group int
	eventually(t, "the child starts", func(context.Context) error {
		data, err := os.ReadFile(file)
		if err == nil {
			_, err = fmt.Sscan(string(data), &group)
		}
		return err
	})
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	eventually(t, "the child ends", func(context.Context) error {
		if err := syscall.Kill(-group, 0); !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("it responds to signals: %w", err)
		}
		return nil
	})
}

func eventually(t *testing.T, what string, check func(context.Context) error) {
	t.Helper()
	err := (wait.Limits{Timeout: wait.Patience, Period: 5 * time.Millisecond}).Until(t.Context(), what, check)
	if err != nil {
		t.Fatal(err)
	}
}
