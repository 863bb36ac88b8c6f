package cmd

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/access"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/child"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/controlplane"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/program"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/wait"
)

// asProgram makes the test binary the program of the operator, with a process and memory of its own.
const asProgram = "TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Args[0] = "darkroom-operator"
		os.Exit(Main())
	}
	os.Exit(m.Run())
}

// runProgram runs the program until the test ends, and returns its process.
func runProgram(t *testing.T, kubeconfig string, args ...string) (pid int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	process := exec.Command(self, args...)
	process.Dir, process.Env = filepath.Join("..", ".."), []string{"KUBECONFIG=" + kubeconfig, "HOME=/nonexistent", asProgram + "=1"}
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	process.Stdout, process.Stderr = log, log
	if err := child.Start(process); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = process.Process.Signal(syscall.SIGTERM)
		if err := process.Wait(); err != nil {
			t.Errorf("%s ended: %v\n%s", args[0], err, program.Tail(log.Name(), 20))
		}
		_ = log.Close()
	})
	return process.Process.Pid
}

// peak returns the most memory that a process has had, in MiB.
func peak(t *testing.T, pid int) int {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(raw), "VmHWM:")
	kib, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kib >> 10
}

// flood opens connections to an address, each with a header that never ends, until a context does.
// It counts the connections.
func flood(ctx context.Context, clients int, address, from string, encrypted bool, header int, opened *atomic.Int64) *sync.WaitGroup {
	begin := "GET / HTTP/1.1\r\nHost: a\r\nX-Header: " + strings.Repeat("x", header)
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	var running sync.WaitGroup
	for range clients {
		running.Go(func() {
			for ctx.Err() == nil {
				c, err := dialer.DialContext(ctx, "tcp", address)
				if err != nil {
					continue
				}
				stop := context.AfterFunc(ctx, func() { _ = c.Close() })
				if encrypted {
					c = tls.Client(c, &tls.Config{InsecureSkipVerify: true})
				}
				if _, err := c.Write([]byte(begin)); err == nil {
					opened.Add(1)
					// Until the server closes it.
					_, _ = bufio.NewReader(c).ReadByte()
				}
				stop()
				_ = c.Close()
			}
		})
	}
	return &running
}

// TestNobodyExhaustsAProgramWithoutAToken opens connections whose headers never end to each listener
// of the programs. Their pods have 256 MiB.
func TestNobodyExhaustsAProgramWithoutAToken(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil || !controlplane.Available() {
		t.Skip("needs /proc, and programs to start: ", controlplane.Missing)
	}
	administrator, stop, err := controlplane.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	}()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := access.WriteKubeconfig(administrator, "", kubeconfig); err != nil {
		t.Fatal(err)
	}
	t.Run("programs", func(t *testing.T) {
		address := func() string {
			free, err := program.FreeAddress()
			if err != nil {
				t.Fatal(err)
			}
			return free
		}
		health, metrics, api := address(), address(), address()
		manager := runProgram(t, kubeconfig, "manager", "--health-probe-bind-address", health, "--metrics-bind-address", metrics, "--pprof-bind-address", "0")
		server := runProgram(t, kubeconfig, "apiserver", "--bind-address", api)
		for _, c := range []struct {
			name, at, ready string
			pid             int
			encrypted       bool
			clients, header int
		}{
			{"health", health, health, manager, false, 400, 1 << 20},
			{"metrics", metrics, health, manager, true, 400, 1 << 20},
			{"API server", api, api, server, false, 1500, 30_000},
		} {
			t.Run(c.name, func(t *testing.T) {
				exhaust(t, c.at, "http://"+c.ready+"/readyz", c.pid, c.encrypted, c.clients, c.header)
			})
		}
	})
}

// exhaust floods a listener from another address than that of who asks whether the program is ready.
func exhaust(t *testing.T, at, ready string, pid int, encrypted bool, clients, header int) {
	const enough, limit = 2, 150
	limits := wait.Limits{Timeout: 2 * time.Minute, Period: 50 * time.Millisecond}
	if err := limits.Until(t.Context(), "it is ready", func(ctx context.Context) error { return wait.Responds(ctx, ready, http.StatusOK) }); err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	var opened atomic.Int64
	running := flood(ctx, clients, at, "127.0.0.2", encrypted, header, &opened)
	asked, failed := 0, 0
	for opened.Load() < int64(enough*clients) {
		asked++
		// Of its own connection, as a kubelet asks.
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
		response, err := client.Get(ready)
		if err != nil || response.StatusCode != http.StatusOK {
			failed++
		}
		if err == nil {
			_ = response.Body.Close()
		}
	}
	end()
	running.Wait()
	t.Logf("%d connections, peak of %d MiB, asked %d times", opened.Load(), peak(t, pid), asked)
	if failed > 0 {
		t.Errorf("/readyz failed %d of %d times", failed, asked)
	}
	if mib := peak(t, pid); mib > limit {
		t.Errorf("it took %d MiB, limit %d", mib, limit)
	}
}
