package main

import (
	"bytes"
	"cmp"
	"context"
	"image"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/program"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/wait"
)

// binaryVariable names a Darkroom to test in the stand-in's place. The contract tests use only environment, signals and
// HTTP, so that they can also run against the real Darkroom. End-to-end tests may rely on everything that passes with
// both.
const binaryVariable = "DARKROOM_BINARY"

// standInVariable makes the test binary run as the stand-in. The tests start their own binary.
const standInVariable = "DARKROOM_TEST_IS_STANDIN"

func TestMain(m *testing.M) {
	if os.Getenv(standInVariable) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// proxy is a running Darkroom.
type proxy struct {
	t    *testing.T
	base string
	cmd  *exec.Cmd
	// exited receives the result of the process.
	exited chan error
	// terminated ensures that SIGTERM is sent once.
	terminated sync.Once
}

// start runs a Darkroom with only env in its environment, and waits until it responds to /ping. At the end of the test
// it must stop without an error.
func start(t *testing.T, env map[string]string) *proxy {
	t.Helper()
	p := launch(t, env)
	p.until("it responds to /ping", func(ctx context.Context) error {
		return wait.Responds(ctx, p.base+"/ping", http.StatusOK)
	})
	t.Cleanup(func() {
		p.terminate()
		if err := p.wait(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// terminate sends SIGTERM once, because a second one would end Darkroom with an error.
func (p *proxy) terminate() {
	p.terminated.Do(func() { _ = p.cmd.Process.Signal(syscall.SIGTERM) })
}

// launch starts a process without waiting for it.
func launch(t *testing.T, env map[string]string) *proxy {
	t.Helper()
	address, err := program.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{t: t, base: "http://" + address, exited: make(chan error, 1)}
	_, port, _ := net.SplitHostPort(address)
	p.cmd = exec.Command(cmp.Or(os.Getenv(binaryVariable), os.Args[0]), "server", "-p", port)
	p.cmd.Dir = t.TempDir() // Darkroom reads a config.yaml in its working directory
	p.cmd.Env = []string{standInVariable + "=1", "GORACE=atexit_sleep_ms=0"}
	for name, value := range env {
		p.cmd.Env = append(p.cmd.Env, name+"="+value)
	}
	var log bytes.Buffer
	p.cmd.Stdout, p.cmd.Stderr = &log, &log
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.exited <- p.cmd.Wait() }()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		if err := p.wait(); t.Failed() {
			t.Logf("%v; log of the process:\n%s", err, log.String())
		}
	})
	return p
}

// until waits for a condition.
func (p *proxy) until(what string, check func(context.Context) error) {
	p.t.Helper()
	err := (wait.Limits{Timeout: wait.Patience, Period: 5 * time.Millisecond}).Until(p.t.Context(), what, check)
	if err != nil {
		p.t.Fatal(err)
	}
}

// wait returns the result of the process.
func (p *proxy) wait() error {
	p.t.Helper()
	select {
	case err := <-p.exited:
		p.exited <- err
		return err
	case <-time.After(wait.Patience):
		p.t.Fatal("the process does not end")
		return nil
	}
}

type answer struct {
	status int
	header http.Header
	body   []byte
}

func (p *proxy) do(method, path string) answer {
	p.t.Helper()
	request, err := http.NewRequestWithContext(p.t.Context(), method, p.base+path, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, body}
}

func (p *proxy) expect(path string, status int) answer {
	p.t.Helper()
	got := p.do(http.MethodGet, path)
	if got.status != status {
		p.t.Errorf("GET %s: %d, want %d", path, got.status, status)
	}
	return got
}

// image decodes a response of any format.
func (a answer) image(t *testing.T) (image.Image, string) {
	t.Helper()
	img, format, err := image.Decode(bytes.NewReader(a.body))
	if err != nil {
		t.Fatalf("status %d, %d bytes: %v", a.status, len(a.body), err)
	}
	return img, format
}
