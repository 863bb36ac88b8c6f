//go:build linux

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	// bridge is the network interface that the pods are connected to.
	bridge = "dkrm0"
	// mark names packet filter rules, the pods' network and their parent control group.
	mark = "darkroom-cluster"
)

// makeNetwork creates the bridge, whose address is the node's, and lets pods reach addresses beyond it. The bridge is
// created here instead of by the network plugin, because the API server and the kubelet need the address before the
// first pod starts.
func (c *Cluster) makeNetwork() error {
	commands := [][]string{
		{"ip", "link", "add", bridge, "type", "bridge"},
		{"ip", "address", "add", fmt.Sprintf("%s/%d", nodeIP, podBits()), "dev", bridge},
		{"ip", "link", "set", bridge, "up"},
		// The machine may refuse to forward packets by default, for example because of Docker.
		{"iptables", "-w", "5", "-I", "FORWARD", "-i", bridge, "-m", "comment", "--comment", mark, "-j", "ACCEPT"},
		{"iptables", "-w", "5", "-I", "FORWARD", "-o", bridge, "-m", "comment", "--comment", mark, "-j", "ACCEPT"},
		{
			"iptables", "-w", "5", "-t", "nat", "-A", "POSTROUTING", "-s", podCIDR, "!", "-d", podCIDR,
			"-m", "comment", "--comment", mark, "-j", "MASQUERADE",
		},
	}
	if err := set("net/ipv4/ip_forward", "1"); err != nil {
		return err
	}
	for _, command := range commands {
		if err := runTool(command...); err != nil {
			return fmt.Errorf("create the pods' network: %w", err)
		}
	}
	return nil
}

// removeBridge removes the bridge, if there is one, and the interfaces connected to it: the kernel removes the pods'
// interfaces only some time after the last process has ended.
func removeBridge() error {
	connected, err := filepath.Glob(filepath.Join("/sys/class/net", bridge, "brif", "*"))
	if err != nil {
		return err
	}
	for _, path := range connected {
		_ = runTool("ip", "link", "delete", filepath.Base(path)) // it may be gone already
	}
	if _, err := net.InterfaceByName(bridge); err != nil {
		return nil
	}
	if err := runTool("ip", "link", "delete", bridge); err != nil {
		return fmt.Errorf("remove the pods' network: %w", err)
	}
	return nil
}

func runTool(command ...string) error {
	out, err := exec.Command(command[0], command[1:]...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(command, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// forward forwards connections to a port of the node's address to the same port of loopback until ctx ends. This is how
// pods reach the API server, which listens only on loopback.
func (c *Cluster) forward(ctx context.Context, port int) error {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", c.at(nodeIP, port))
	if err != nil {
		return fmt.Errorf("listen for connections from pods to the API server: %w", err)
	}
	context.AfterFunc(ctx, func() { listener.Close() })
	target := c.at(loopback, port)
	go func() {
		for {
			conn, err := listener.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err == nil {
				go pipe(ctx, conn, target)
			}
		}
	}()
	return nil
}

// pipe copies data in both directions between conn and a new connection to target.
func pipe(ctx context.Context, conn net.Conn, target string) {
	defer conn.Close()
	var dialer net.Dialer
	other, err := dialer.DialContext(ctx, "tcp", target)
	if err != nil {
		return
	}
	defer other.Close()
	go func() {
		_, _ = io.Copy(other, conn)
		_ = other.(*net.TCPConn).CloseWrite()
	}()
	_, _ = io.Copy(conn, other)
}
