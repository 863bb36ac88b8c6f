package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/program"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/wait"
)

// startServer starts the API server, with its kubeconfig and log in a folder.
func startServer(ctx context.Context, binary, folder string, c *cluster, flags ...string) (*program.Program, error) {
	kubeconfig := filepath.Join(folder, "kubeconfig")
	if err := c.kubeconfig(ctx, kubeconfig); err != nil {
		return nil, err
	}
	server, err := program.APIServer(filepath.Dir(binary), kubeconfig, filepath.Join(folder, "log"), flags...)
	if err != nil {
		return nil, err
	}
	ready := wait.Limits{Timeout: time.Minute, Period: 100 * time.Millisecond}
	if err := ready.Until(ctx, "the API server is ready", server.Ready); err != nil {
		return server, fmt.Errorf("%w: %s", err, server.Log(20))
	}
	return server, nil
}

// memory returns the peak memory of a process, in bytes (Linux).
func memory(pid int) (int64, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(raw)) {
		if value, found := strings.CutPrefix(line, "VmHWM:"); found {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return kib << 10, err
		}
	}
	return 0, errors.New("the kernel does not report the memory of the process")
}
