// Package supervise keeps Darkroom running in its container. A pod is not ready while one of its
// containers does not run, so a crash of Darkroom would also make the gate unreachable, which
// serves cached images without it. Each crash in a row would double that time.
package supervise

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

// minUptime is the time after which a crash is an incident. A program that ends earlier cannot
// run; the container ends with it, so that Kubernetes reports it and backs off.
const minUptime = 5 * time.Second

// Run starts a program, restarts it when it ends, and forwards the end of ctx as SIGTERM.
func Run(ctx context.Context, log *slog.Logger, program string, args ...string) error {
	for {
		started := time.Now()
		command := exec.CommandContext(ctx, program, args...) //nolint:gosec // that is its purpose
		command.Stdout, command.Stderr = os.Stdout, os.Stderr
		command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
		err := command.Run()
		switch {
		case ctx.Err() != nil:
			return nil
		case time.Since(started) < minUptime:
			return fmt.Errorf("run %s: %w", program, errors.Join(err, errors.New("ended after its start")))
		}
		log.Warn("Program ended and is restarted", "program", program, "error", err)
	}
}

// LimitMemory bounds the memory of this process and its children, each, to less than the limit
// of the container in bytes. Beyond the limit of the container, the kernel kills the container.
// A container with less than 256 MiB is left to the kernel.
func LimitMemory(container string) error {
	limit, err := strconv.ParseUint(container, 10, 64)
	if err != nil {
		return fmt.Errorf("memory limit of the container: %w", err)
	}
	// Programs of older Go releases map 64 MiB at a time, which is too much for a small container.
	if limit < 256<<20 {
		return nil
	}
	limit -= 32 << 20 // for this process, and for what is not counted as its data
	return syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: limit, Max: limit})
}

// Install copies this program to a path, for a container whose image does not have it.
func Install(path string) error {
	program, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		return err
	}
	return os.WriteFile(path, program, 0o755) //nolint:gosec // a program
}
