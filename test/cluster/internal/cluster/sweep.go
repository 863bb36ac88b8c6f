//go:build linux

package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// record is the state of the machine before the node started: enough to undo
// the node's changes. It is stored in runDir, which is empty after a reboot, as the changes are gone, too.
type record struct {
	// Settings are kernel settings, by their path under /proc/sys.
	Settings map[string]string `json:"settings"`
}

const recordPath = runDir + "/machine.json"

// settings are the kernel settings (sysctl) that the kubelet, kube-proxy and the network of the pods change.
var settings = []string{
	"kernel/panic", "kernel/panic_on_oops", "kernel/keys/root_maxkeys", "kernel/keys/root_maxbytes",
	"vm/overcommit_memory", "vm/panic_on_oom",
	"net/ipv4/ip_forward", "net/ipv4/conf/all/route_localnet", "net/ipv6/conf/all/forwarding",
	"net/bridge/bridge-nf-call-iptables", "net/bridge/bridge-nf-call-ip6tables",
}

// prepareMachine changes the machine for the node, inside the node's namespaces.
func (c *Cluster) prepareMachine(ctx context.Context) error {
	for _, step := range []func() error{inside, takeRecord, c.mountPrivate, makeCgroup, c.makeNetwork} {
		if err := step(); err != nil {
			return err
		}
	}
	return c.forward(ctx, c.ports["kube-apiserver"])
}

// takeRecord records the state of the machine.
func takeRecord() error {
	r := record{Settings: map[string]string{}}
	for _, setting := range settings {
		// A kernel may lack some of these settings.
		if value, err := os.ReadFile(filepath.Join("/proc/sys", setting)); err == nil {
			r.Settings[setting] = strings.TrimSpace(string(value))
		}
	}
	return writeJSON(recordPath, 0o644, r)
}

// inside ensures that this process runs in the node's namespaces: its parent must be their first process, which runs
// the same program.
func inside() error {
	first, err := os.Stat("/proc/1/exe")
	if err != nil {
		return fmt.Errorf("read the first process: %w", err)
	}
	self, err := os.Stat("/proc/self/exe")
	if err != nil {
		return fmt.Errorf("read this process: %w", err)
	}
	if os.Getppid() != 1 || !os.SameFile(first, self) {
		return errors.New("not in the namespaces of a real node; start it with: cluster exec --node real")
	}
	return nil
}

// killLimit is the time limit for the kernel to end killed processes.
const killLimit = 20 * time.Second

// killAll kills every process of the PID namespace except itself and the first process, and waits until they have
// ended.
func killAll() error {
	// Outside of a node's namespaces it would kill everything on the machine.
	if err := inside(); err != nil {
		return err
	}
	for deadline := time.Now().Add(killLimit); ; time.Sleep(10 * time.Millisecond) {
		// ESRCH means that there are no other processes.
		if err := syscall.Kill(-1, syscall.SIGKILL); errors.Is(err, syscall.ESRCH) {
			return nil
		}
		left, err := filepath.Glob("/proc/[0-9]*")
		if err != nil || len(left) <= 2 {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d processes did not end within %s of SIGKILL", len(left)-2, killLimit)
		}
	}
}

// Sweep undoes a node's changes to the machine, and removes its last trace. It does nothing on a machine without
// traces. All processes of the node must have ended.
func Sweep() error {
	if err := undoChanges(); err != nil {
		return err
	}
	return os.RemoveAll(runDir)
}

// undoChanges is the part of Sweep that also works inside the node's namespaces.
func undoChanges() error {
	data, err := os.ReadFile(recordPath)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var r record
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil {
		return fmt.Errorf("read the state of the machine before the node: %w", err)
	}
	errs := []error{removeBridge(), restoreFilters(), removeCgroup()}
	for setting, value := range r.Settings {
		now, err := os.ReadFile(filepath.Join("/proc/sys", setting))
		if err == nil && strings.TrimSpace(string(now)) != value {
			errs = append(errs, set(setting, value))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("undo the node's changes: %w", err)
	}
	return nil
}

func set(setting, value string) error {
	if err := os.WriteFile(filepath.Join("/proc/sys", setting), []byte(value), 0o644); err != nil {
		return fmt.Errorf("set %s to %s: %w", setting, value, err)
	}
	return nil
}
