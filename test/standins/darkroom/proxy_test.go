package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

// binaryVariable names a Darkroom to test in the stand-in's place. The contract
// tests speak only environment, signals and HTTP, so that they can be run against
// the true one: what passes with both is what end-to-end tests may rely on.
const binaryVariable = "DARKROOM_BINARY"

// standInVariable makes the test binary be the stand-in. The tests start
// themselves, so the process under test is built like them, race detector
// included.
const standInVariable = "DARKROOM_TEST_IS_STANDIN"

func TestMain(m *testing.M) {
	if os.Getenv(standInVariable) != "" {
		main()
		return
	}
	code := m.Run()
	_ = os.RemoveAll(sourcesDir)
	os.Exit(code)
}

// waitTimeout bounds every wait. It is long because machines that test are busy.
const waitTimeout = 30 * time.Second

type proxy struct {
	t    *testing.T
	base string
	cmd  *exec.Cmd
	log  lockedBuffer
	// exited is closed when the process has ended, with how in state.
	exited chan struct{}
	state  *os.ProcessState
}

// start runs a Darkroom with nothing but env in its environment and waits until
// it answers /ping. At the end of the test it must stop without complaint.
func start(t *testing.T, env map[string]string) *proxy {
	t.Helper()
	p := launch(t, freePort(t), env)
	p.waitUntil("it answers /ping", func() bool {
		response, err := http.Get(p.base + "/ping")
		if err != nil {
			return false
		}
		response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
	t.Cleanup(func() {
		if code := p.stop(); code != 0 {
			t.Errorf("exit code %d", code)
		}
	})
	return p
}

// launch starts a process and waits for nothing. Port 0 leaves -p out.
func launch(t *testing.T, port int, env map[string]string) *proxy {
	t.Helper()
	args := []string{"server"}
	if port != 0 {
		args = append(args, "-p", strconv.Itoa(port))
	} else {
		port = 3000
	}
	p := &proxy{t: t, base: fmt.Sprintf("http://127.0.0.1:%d", port), exited: make(chan struct{})}
	if binary := os.Getenv(binaryVariable); binary != "" {
		p.cmd = exec.Command(binary, args...)
	} else {
		self, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		p.cmd = exec.Command(self, args...)
		env = maps.Clone(env)
		if env == nil {
			env = map[string]string{}
		}
		env[standInVariable] = "1"
		env["GORACE"] = "atexit_sleep_ms=0" // the race detector's second of sleep at each end adds up
	}
	p.cmd.Dir = t.TempDir() // Darkroom reads a config.yaml where it stands
	p.cmd.Env = []string{}
	for name, value := range env {
		p.cmd.Env = append(p.cmd.Env, name+"="+value)
	}
	p.cmd.Stdout, p.cmd.Stderr = &p.log, &p.log
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait()
		p.state = p.cmd.ProcessState
		close(p.exited)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.exited
		if t.Failed() {
			t.Logf("log of the process:\n%s", p.log.String())
		}
	})
	return p
}

func (p *proxy) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Fatal(err)
	}
}

// stop ends the process the polite way and returns its exit code.
func (p *proxy) stop() int {
	p.t.Helper()
	p.signal(syscall.SIGTERM)
	return p.wait()
}

// wait returns the exit code of a process that ends by itself.
func (p *proxy) wait() int {
	p.t.Helper()
	select {
	case <-p.exited:
		return p.state.ExitCode()
	case <-time.After(waitTimeout):
		p.t.Fatal("the process does not end")
		return -1
	}
}

func (p *proxy) waitUntil(what string, done func() bool) {
	p.t.Helper()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.After(waitTimeout)
	for !done() {
		select {
		case <-ticker.C:
		case <-p.exited:
			p.t.Fatalf("the process ended before %s", what)
		case <-deadline:
			p.t.Fatalf("waited in vain until %s", what)
		}
	}
}

type answer struct {
	status int
	header http.Header
	body   []byte
}

func (p *proxy) get(path string) answer { return p.do(http.MethodGet, path) }

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
	got := p.get(path)
	if got.status != status {
		p.t.Errorf("GET %s: %d, want %d", path, got.status, status)
	}
	return got
}

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}
