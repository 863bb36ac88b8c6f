package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/child"
)

const mergePatch = types.MergePatchType

// server is a process of the API server.
type server struct {
	url     string
	process *exec.Cmd
	folder  string
}

// startServer starts one with the flags of the Deployment, and some more.
func startServer(ctx context.Context, binary string, c *cluster, flags ...string) (*server, error) {
	folder, err := os.MkdirTemp("", "darkroom-load-")
	if err != nil {
		return nil, err
	}
	s := &server{folder: folder}
	kubeconfig := filepath.Join(folder, "kubeconfig")
	if err := c.kubeconfig(ctx, kubeconfig); err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	address, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	s.url = "http://" + address
	s.process = exec.Command(binary, append([]string{"apiserver", "--bind-address", address}, flags...)...)
	// The Deployment's limit.
	s.process.Env = []string{"KUBECONFIG=" + kubeconfig, "HOME=/nonexistent", "GOMEMLIMIT=256MiB"}
	s.process.Stderr = os.Stderr
	if err := child.Start(s.process); err != nil {
		return nil, errors.Join(fmt.Errorf("start the API server: %w", err), os.RemoveAll(folder))
	}
	for ctx.Err() == nil {
		if answer, err := http.Get(s.url + "/readyz"); err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return s, nil
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	s.stop()
	return nil, fmt.Errorf("wait for the API server: %w", ctx.Err())
}

func (s *server) stop() {
	_ = s.process.Process.Signal(syscall.SIGTERM)
	if err := s.process.Wait(); err != nil {
		log.Print("the API server ended: ", err)
	}
	if err := os.RemoveAll(s.folder); err != nil {
		log.Print(err)
	}
}

// memory returns the peak memory of the process, in bytes (Linux).
func (s *server) memory() (int64, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.Process.Pid))
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

func freeAddress(ctx context.Context) (string, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}
