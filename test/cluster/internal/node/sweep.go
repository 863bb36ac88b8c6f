//go:build linux

package node

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Prepare changes the machine for the node. It must run inside the node's
// namespaces, by the holder of the lock.
func (c Config) Prepare() error {
	if err := inside(); err != nil {
		return err
	}
	// A node that was killed may have left something.
	if err := Sweep(); err != nil {
		return err
	}
	if err := takeRecord(); err != nil {
		return err
	}
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		return fmt.Errorf("make the node's folder: %w", err)
	}
	if err := c.mountPrivate(); err != nil {
		return err
	}
	if err := makeCgroup(); err != nil {
		return err
	}
	return c.makeNetwork()
}

// inside makes sure that this process works in the node's namespaces: its
// parent must be their first process, which runs the same program.
func inside() error {
	first, err := os.Stat("/proc/1/exe")
	if err != nil {
		return fmt.Errorf("look at the first process: %w", err)
	}
	self, err := os.Stat("/proc/self/exe")
	if err != nil {
		return fmt.Errorf("look at this process: %w", err)
	}
	if os.Getppid() != 1 || !os.SameFile(first, self) {
		return errors.New("not in the namespaces of a real node; start it with: cluster up --node real")
	}
	return nil
}

// killLimit is how long the kernel may take to end killed processes.
const killLimit = 20 * time.Second

// KillAll kills every other process of the PID namespace but the first one,
// and waits until they have gone.
func KillAll() error {
	// Elsewhere it would kill everything on the machine.
	if err := inside(); err != nil {
		return err
	}
	for deadline := time.Now().Add(killLimit); ; {
		// ESRCH means that there are no other processes.
		if err := syscall.Kill(-1, syscall.SIGKILL); errors.Is(err, syscall.ESRCH) {
			return nil
		}
		if left := others(); len(left) == 0 {
			return nil
		} else if time.Now().After(deadline) {
			return fmt.Errorf("processes did not end within %s of SIGKILL: %s", killLimit, strings.Join(left, ", "))
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// others lists the processes but this one and the first.
func others() []string {
	paths, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil
	}
	var pids []string
	for _, path := range paths {
		pid := filepath.Base(path)
		if pid != "1" && pid != fmt.Sprint(os.Getpid()) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// Sweep undoes what a node did to the machine. It does nothing on a machine
// without traces of one. All its processes must have gone.
func Sweep() error {
	r, err := loadRecord()
	if err != nil {
		return err
	}
	if r == nil {
		return nil
	}
	errs := []error{removeBridge(), restoreFilters(r.Chains), removeCgroup()}
	for setting, value := range r.Settings {
		errs = append(errs, restore(setting, value))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("clear what the node left: %w", err)
	}
	// Rmdir removes only empty folders: other content is not ours to delete. In
	// reverse order, because parents were recorded first.
	for i := len(r.Folders) - 1; i >= 0; i-- {
		_ = syscall.Rmdir(r.Folders[i])
	}
	return nil
}

// Forget removes RunDir, the last trace. It must not run inside the node's
// namespaces.
func Forget() error {
	if err := os.RemoveAll(RunDir); err != nil {
		return fmt.Errorf("clear what the node left: %w", err)
	}
	return nil
}

// restore sets a kernel setting if it differs.
func restore(setting, value string) error {
	now, err := os.ReadFile(settingPath(setting))
	if errors.Is(err, fs.ErrNotExist) || err == nil && strings.TrimSpace(string(now)) == value {
		return nil
	}
	return set(setting, value)
}

func set(setting, value string) error {
	if err := os.WriteFile(settingPath(setting), []byte(value), 0o644); err != nil {
		return fmt.Errorf("set %s to %s: %w", setting, value, err)
	}
	return nil
}
