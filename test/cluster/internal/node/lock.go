//go:build linux

package node

import (
	"fmt"
	"io"
	"net"
	"time"
)

// lockAddress is an abstract socket. Like the bridge and the rules, which must
// not be created twice, it belongs to the network namespace. The kernel removes
// it when its owner ends.
const lockAddress = "@darkroom-cluster-node"

// Lock makes this process the owner of the machine's only real node. Processes
// that connect to the socket receive dir, the owner's folder.
func Lock(dir string) (unlock func(), err error) {
	listener, err := net.Listen("unix", lockAddress)
	if err != nil {
		if owner := LockedBy(); owner != "" {
			return nil, fmt.Errorf("a cluster with a real node runs on this machine, and there can be only one; stop it with: cluster down --dir %s", owner)
		}
		return nil, fmt.Errorf("lock the machine's real node: %w", err)
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // unlocked
			}
			_, _ = io.WriteString(conn, dir)
			conn.Close()
		}
	}()
	return func() { listener.Close() }, nil
}

// LockedBy returns the folder of the cluster whose real node runs on this
// machine; empty if none does.
func LockedBy() string {
	conn, err := net.DialTimeout("unix", lockAddress, time.Second)
	if err != nil {
		return ""
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	owner, err := io.ReadAll(conn)
	if err != nil || len(owner) == 0 {
		return "(unknown)"
	}
	return string(owner)
}
