//go:build linux

package node

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// HostPID returns the machine's id of a process that this PID namespace knows
// as pid; 0 if there is none.
func HostPID(pid int) int {
	own, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return 0
	}
	paths, err := filepath.Glob(filepath.Join(hostProc(), "[0-9]*"))
	if err != nil {
		return 0
	}
	for _, path := range paths {
		status, err := os.ReadFile(filepath.Join(path, "status"))
		if err != nil || innerPID(string(status)) != pid {
			continue
		}
		if namespace, err := os.Readlink(filepath.Join(path, "ns", "pid")); err != nil || namespace != own {
			continue
		}
		if hostPID, err := strconv.Atoi(filepath.Base(path)); err == nil {
			return hostPID
		}
	}
	return 0
}

// innerPID returns the id of a process in its innermost PID namespace, from
// the text of its status file.
func innerPID(status string) int {
	for line := range strings.Lines(status) {
		if ids, ok := strings.CutPrefix(line, "NSpid:"); ok {
			fields := strings.Fields(ids)
			var pid int
			if _, err := fmt.Sscan(fields[len(fields)-1], &pid); err == nil {
				return pid
			}
		}
	}
	return 0
}
