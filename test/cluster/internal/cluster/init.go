//go:build linux

package cluster

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// Init is the first process of a real node's namespaces: it runs the supervisor in them and reaps orphaned processes.
// When the supervisor ends, Init returns its exit code. When the caller then exits, the kernel kills all remaining
// processes in the namespace.
func Init(c *Cluster) (int, error) {
	if os.Getpid() != 1 {
		return 0, fmt.Errorf("not the first process of a namespace, but process %d", os.Getpid())
	}
	if err := separateMounts(); err != nil {
		return 0, err
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)

	// The lock of the machine is inherited.
	child, err := syscall.ForkExec("/proc/self/exe",
		[]string{"cluster", SuperviseCommand, c.Dir, c.BinDir, string(c.Node)},
		&syscall.ProcAttr{Env: os.Environ(), Files: []uintptr{0, 1, 2, eventsFD, lockFD}})
	if err != nil {
		return 0, fmt.Errorf("start the supervisor: %w", err)
	}
	go func() {
		for s := range signals {
			_ = syscall.Kill(child, s.(syscall.Signal)) // it may have ended
		}
	}()
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return 0, fmt.Errorf("wait for the supervisor: %w", err)
		case pid == child && status.Signaled():
			return 128 + int(status.Signal()), nil
		case pid == child:
			return status.ExitStatus(), nil
		}
	}
}

// separateMounts separates this mount namespace from the machine's, makes mounts propagate among the namespaces inside
// it, as Kubernetes requires, and replaces /proc, which must show the new PID namespace.
func separateMounts() error {
	for _, m := range []struct {
		source, target, fstype string
		flags                  uintptr
	}{
		{"none", "/", "", syscall.MS_REC | syscall.MS_PRIVATE},
		{"proc", "/proc", "proc", syscall.MS_NOSUID | syscall.MS_NODEV | syscall.MS_NOEXEC},
		// This comes last: a mount on a shared mount also appears on its copy.
		{"none", "/", "", syscall.MS_REC | syscall.MS_SHARED},
	} {
		if err := syscall.Mount(m.source, m.target, m.fstype, m.flags, ""); err != nil {
			return fmt.Errorf("mount %s: %w", m.target, err)
		}
	}
	return nil
}
