package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/prometheus/procfs"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/access"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/program"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/wait"
)

// startServer starts the API server, with its kubeconfig and log in a folder.
func startServer(ctx context.Context, binary, folder string, c *cluster, flags ...string) (*program.Program, error) {
	identity, err := access.NewAPIServer(ctx, c.kube, c.config, ".")
	if err != nil {
		return nil, err
	}
	kubeconfig := filepath.Join(folder, "kubeconfig")
	if err := access.WriteKubeconfig(identity, "", kubeconfig); err != nil {
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
func memory(pid int) (uint64, error) {
	process, err := procfs.NewProc(pid)
	if err != nil {
		return 0, err
	}
	status, err := process.NewStatus()
	return status.VmHWM, err
}
