package cluster

import (
	"syscall"

	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/node"
)

// ownProgram is this program's file. Under `go run` the file is removed once
// the program has ended, but the supervisor lives on; the kernel's link still
// leads to it.
func ownProgram() (string, error) { return "/proc/self/exe", nil }

// supervisorAttributes make the supervisor outlive the terminal and, with a
// real node, give it namespaces of its own.
func supervisorAttributes(kind NodeKind) *syscall.SysProcAttr {
	if kind == Real {
		return node.Attributes()
	}
	return &syscall.SysProcAttr{Setsid: true}
}
