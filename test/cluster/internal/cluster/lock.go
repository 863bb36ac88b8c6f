//go:build linux

package cluster

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
)

// errLocked is returned when another process has the lock.
var errLocked = errors.New("locked by another process")

// machineLock is the lock of the machine's only real node: an abstract socket. Like the bridge and the
// rules, which must not be created twice, it belongs to the network namespace.
const machineLock = "@darkroom-cluster-node"

// acquire locks a file. The lock belongs to all processes that inherit the file, until the last of
// them has ended or closed it.
func acquire(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open a lock: %w", err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return file, nil
	}
	file.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errLocked
	}
	return nil, fmt.Errorf("lock %s: %w", path, err)
}

// isLocked reports whether a process has the lock.
func isLocked(path string) (bool, error) {
	if _, err := os.Stat(path); err != nil {
		return false, nil
	}
	file, err := acquire(path)
	if errors.Is(err, errLocked) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, file.Close()
}

// lockMachine makes this process, and those that inherit the file, the owner of the machine's only
// real node.
func lockMachine() (*os.File, error) {
	listener, err := net.Listen("unix", machineLock)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, errors.New("a cluster with a real node runs on this machine, and there can be only one; stop it with: cluster down --dir …")
	}
	if err != nil {
		return nil, fmt.Errorf("lock the machine's real node: %w", err)
	}
	defer listener.Close() // the file is a copy
	return listener.(*net.UnixListener).File()
}
