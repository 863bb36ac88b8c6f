// Package supervise restarts Darkroom in its container. A pod is not ready while one of its containers is down. A crash
// of Darkroom would therefore make the gate unreachable, although it can still serve cached images. With each crash,
// Kubernetes would double the time until the restart.
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

// minUptime is the minimum uptime for a restart. If the program ends earlier, the container ends with it, so that
// Kubernetes reports the failure and backs off.
const minUptime = 5 * time.Second

// Run runs a program and restarts it when it ends. When ctx is done, it sends SIGTERM to the program.
func Run(ctx context.Context, log *slog.Logger, program string, args ...string) error {
	for {
		started := time.Now()
		command := exec.CommandContext(ctx, program, args...) //nolint:gosec // running a program is its purpose
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

// LimitMemory limits the memory of this process, and of each child, to less than the limit of the container in bytes.
// If the container reached its own limit, the kernel would kill all its processes. Containers with less than 256 MiB
// are not limited here.
func LimitMemory(container string) error {
	limit, err := strconv.ParseUint(container, 10, 64)
	if err != nil {
		return fmt.Errorf("memory limit of the container: %w", err)
	}
	// Older Go programs map 64 MiB at a time, which is too much for a small container.
	if limit < 256<<20 {
		return nil
	}
	limit -= 32 << 20 // for this process, and for memory outside of the data segment
	return syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: limit, Max: limit})
}

// Install copies this program to a path, for a container whose image does not contain it.
func Install(path string) error {
	program, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		return err
	}
	return os.WriteFile(path, program, 0o755) //nolint:gosec // a program
}
