//go:build e2e

package e2e

import (
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// aloneInItsNetwork returns a command in its own network namespace. A browser aborts its requests when an address of
// its machine changes (ERR_NETWORK_CHANGED), which happens with each pod that starts. The command reaches some servers,
// given as HOST:PORT, through the Unix sockets in SERVER_SOCKETS (PORT=PATH, comma-separated). Only root may create
// network namespaces; other users share the network of the machine.
func aloneInItsNetwork(t *testing.T, servers []string, program string, args ...string) *exec.Cmd {
	t.Helper()
	command := exec.Command(program, args...)
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if os.Geteuid() != 0 {
		return command
	}
	command = exec.Command("sh", append([]string{"-c", `ip link set lo up && exec "$@"`, "sh", program}, args...)...)
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM, Cloneflags: syscall.CLONE_NEWNET}
	var sockets []string
	for _, server := range servers {
		_, port, err := net.SplitHostPort(server)
		must(t, err)
		sockets = append(sockets, port+"="+listenFor(t, server))
	}
	command.Env = append(os.Environ(), "SERVER_SOCKETS="+strings.Join(sockets, ","))
	return command
}

// listenFor returns a Unix socket that forwards to a server.
func listenFor(t *testing.T, server string) string {
	t.Helper()
	socket := filepath.Join(t.TempDir(), "server")
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", socket)
	must(t, err)
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return // the test has ended
			}
			go forward(t, from, server)
		}
	}()
	return socket
}

// forward copies data in both directions until either side ends.
func forward(t *testing.T, from net.Conn, server string) {
	defer from.Close()
	to, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server)
	if err != nil {
		return // the client sees the end of its connection
	}
	go func() {
		_, _ = io.Copy(to, from)
		to.Close() // which ends the other copy
	}()
	_, _ = io.Copy(from, to)
}
