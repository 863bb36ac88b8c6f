//go:build linux

package node

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

// hostProc is the machine's /proc, inside the node's namespaces.
func hostProc() string { return filepath.Join(RunDir, "proc") }

// Attributes start a process that is the first of new PID and mount
// namespaces. It must call Init.
func Attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS}
}

// Init is the first process of the node's namespaces: it runs another program
// in them, with the same first nfiles file descriptors, and reaps those whose
// parents have gone. When that program ends, Init returns its exit code; when
// the caller then exits, the kernel kills all that is left in the namespace.
func Init(program string, args []string, nfiles int) (int, error) {
	if os.Getpid() != 1 {
		return 0, fmt.Errorf("not the first process of a namespace, but process %d", os.Getpid())
	}
	if err := separateMounts(); err != nil {
		return 0, err
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)

	files := make([]uintptr, nfiles)
	for i := range files {
		files[i] = uintptr(i)
	}
	child, err := syscall.ForkExec(program, append([]string{program}, args...), &syscall.ProcAttr{Env: os.Environ(), Files: files})
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

// separateMounts cuts the tie between this mount namespace and the machine's,
// makes mounts spread among the namespaces inside it, as Kubernetes needs, and
// replaces /proc, which must show the new PID namespace.
func separateMounts() error {
	if err := os.MkdirAll(hostProc(), 0o755); err != nil {
		return err
	}
	for _, m := range []struct {
		source, target, fstype string
		flags                  uintptr
	}{
		{"none", "/", "", syscall.MS_REC | syscall.MS_PRIVATE},
		{"/proc", hostProc(), "", syscall.MS_BIND},
		{"proc", "/proc", "proc", syscall.MS_NOSUID | syscall.MS_NODEV | syscall.MS_NOEXEC},
		// Last: among shared mounts, what is mounted on one appears on its copy.
		{"none", "/", "", syscall.MS_REC | syscall.MS_SHARED},
	} {
		if err := syscall.Mount(m.source, m.target, m.fstype, m.flags, ""); err != nil {
			return fmt.Errorf("mount %s: %w", m.target, err)
		}
	}
	return nil
}
