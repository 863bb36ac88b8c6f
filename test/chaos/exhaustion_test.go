//go:build chaos

package chaos

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/program"
)

// peak returns the maximum memory usage of a process in MiB.
func peak(t *testing.T, pid int) int {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	must(t, err)
	_, rest, _ := strings.Cut(string(raw), "VmHWM:")
	kib, err := strconv.Atoi(strings.Fields(rest)[0])
	must(t, err)
	return kib >> 10
}

// flood opens connections to an address, each with an endless header, until the context ends. It counts the
// connections.
func flood(
	ctx context.Context, clients int, address, from string, encrypted bool, header int, opened *atomic.Int64,
) *sync.WaitGroup {
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
					// Read until the server closes the connection.
					_, _ = bufio.NewReader(c).ReadByte()
				}
				stop()
				_ = c.Close()
			}
		})
	}
	return &running
}

// TestNobodyExhaustsAProgramWithoutAToken opens connections with endless headers to each listener of the programs,
// whose pods have 256 MiB.
func TestNobodyExhaustsAProgramWithoutAToken(t *testing.T) {
	namespace := newNamespace(t)
	metrics, err := program.FreeAddress()
	must(t, err)
	manager := start(t, namespace, "--metrics-bind-address", metrics, "--watch-namespaces", namespace,
		"--installation", namespace)
	defer end(t, manager, syscall.SIGTERM)
	server, err := program.APIServer(binaries, filepath.Join(scratch, "kubeconfig"),
		filepath.Join(scratch, namespace+"-apiserver.log"))
	must(t, err)
	defer end(t, server, syscall.SIGTERM)
	eventually(t, "the API server is ready", server.Ready)
	for _, c := range []struct {
		name            string
		flooded         *program.Program
		at              string
		encrypted       bool
		clients, header int
	}{
		{"health", manager, strings.TrimPrefix(manager.URL, "http://"), false, 400, 1 << 20},
		{"metrics", manager, metrics, true, 400, 1 << 20},
		{"API server", server, strings.TrimPrefix(server.URL, "http://"), false, 1500, 30_000},
	} {
		t.Run(c.name, func(t *testing.T) { exhaust(t, c.flooded, c.at, c.encrypted, c.clients, c.header) })
	}
}

// exhaust floods a listener from a different address than the readiness check.
func exhaust(t *testing.T, flooded *program.Program, at string, encrypted bool, clients, header int) {
	const enough, limit = 2, 150
	ctx, end := context.WithCancel(t.Context())
	var opened atomic.Int64
	running := flood(ctx, clients, at, "127.0.0.2", encrypted, header, &opened)
	asked := 0
	var failures []string
	for opened.Load() < int64(enough*clients) {
		asked++
		// A kubelet also opens a new connection.
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}
		response, err := client.Get(flooded.URL + "/readyz")
		if err != nil {
			failures = append(failures, err.Error())
			continue
		}
		if response.StatusCode != http.StatusOK {
			failures = append(failures, response.Status)
		}
		_ = response.Body.Close()
	}
	end()
	running.Wait()
	t.Logf("%d connections, peak of %d MiB, checked %d times", opened.Load(), peak(t, flooded.Pid()), asked)
	if len(failures) > 0 {
		t.Errorf("/readyz failed %d of %d times: %q", len(failures), asked, failures)
	}
	if mib := peak(t, flooded.Pid()); mib > limit {
		t.Errorf("it took %d MiB, limit %d", mib, limit)
	}
}
