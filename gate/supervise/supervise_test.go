package supervise

import (
	"bufio"
	"bytes"
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test binary is also the supervised program, and the supervisor with limited memory.
func TestMain(m *testing.M) {
	switch os.Getenv("SUPERVISE_TEST") {
	case "limited":
		if err := LimitMemory("268435456"); err != nil {
			panic(err)
		}
		command := exec.Command(os.Args[0])
		command.Env = []string{"SUPERVISE_TEST=allocate"}
		out, err := command.CombinedOutput()
		_, _ = os.Stdout.Write(out)
		if err == nil {
			os.Exit(1)
		}
	case "allocate":
		var all [][]byte
		for range 512 {
			all = append(all, bytes.Repeat([]byte{1}, 1<<20))
		}
		os.Exit(len(all) - 512)
	default:
		os.Exit(m.Run())
	}
}

// script writes a program that appends its process ID to a file.
func script(t *testing.T, rest string) (program, starts string) {
	t.Helper()
	program, starts = filepath.Join(t.TempDir(), "program"), filepath.Join(t.TempDir(), "starts")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho $$ >> "+starts+"\n"+rest), 0o700); err != nil {
		t.Fatal(err)
	}
	return program, starts
}

// started waits for the nth start and returns its process ID.
func started(t *testing.T, starts string, n int) int {
	t.Helper()
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); {
		if file, err := os.Open(starts); err == nil {
			lines := bufio.NewScanner(file)
			for i := 1; lines.Scan(); i++ {
				if pid, err := strconv.Atoi(lines.Text()); err == nil && i == n {
					file.Close()
					return pid
				}
			}
			file.Close()
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("not started %d times", n)
	return 0
}

func TestAProgramThatCrashesIsRestarted(t *testing.T) {
	program, starts := script(t, "exec sleep 600")
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, slog.New(slog.DiscardHandler), program) }()
	first := started(t, starts, 1)
	time.Sleep(minUptime)
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	second := started(t, starts, 2)
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := syscall.Kill(second, 0); err == nil {
		t.Error("the program still runs")
	}
}

func TestAProgramThatCannotRunEndsTheContainer(t *testing.T) {
	program, _ := script(t, "exit 3")
	err := Run(t.Context(), slog.New(slog.DiscardHandler), program)
	if err == nil || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("error %v", err)
	}
}

func TestAProgramThatNeedsTooMuchMemoryEnds(t *testing.T) {
	info, found := debug.ReadBuildInfo()
	if found && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		t.Skip("the race detector maps more memory than the limit")
	}
	command := exec.Command(os.Args[0])
	command.Env = []string{"SUPERVISE_TEST=limited"}
	out, err := command.CombinedOutput()
	if err != nil { // Go reports different reasons, or crashes in its runtime
		t.Errorf("%v: %.300s", err, out)
	}
}

func TestTheProgramIsInstalled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "copy")
	if err := Install(path); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(path)
	command.Env = []string{"SUPERVISE_TEST=allocate"}
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
