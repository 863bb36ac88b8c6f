//go:build linux

package cluster

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Down stops the cluster in a folder and clears what it, or one that was killed
// there, has left. It reports whether there was one running. The logs stay.
func Down(dir string) (bool, error) {
	c := &Cluster{Dir: dir}
	running, err := c.Running()
	if err != nil {
		return false, err
	}
	if running {
		if err := c.end(); err != nil {
			return true, err
		}
	}
	// Only a real node changes the machine. It has a folder of its own.
	if _, err := os.Stat(c.file("node")); err == nil {
		machine, err := lockMachine()
		if err != nil {
			return running, err
		}
		defer machine.Close()
		if err := Sweep(); err != nil {
			return running, err
		}
	}
	return running, c.clear()
}

// Running reports whether the cluster runs, or is starting or stopping.
func (c *Cluster) Running() (bool, error) { return isLocked(c.file("lock")) }

// end stops the supervisor and waits until it has gone.
func (c *Cluster) end() error {
	text, err := os.ReadFile(c.file("supervisor.pid"))
	if err != nil {
		return fmt.Errorf("find the supervisor: %w", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return fmt.Errorf("find the supervisor: %w", err)
	}
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if err := syscall.Kill(pid, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("stop the supervisor, process %d: %w", pid, err)
		}
		for deadline := time.Now().Add(stopLimit); time.Now().Before(deadline); time.Sleep(pollInterval) {
			if running, err := c.Running(); err != nil || !running {
				return err
			}
		}
	}
	return fmt.Errorf("the supervisor, process %d, does not end", pid)
}
