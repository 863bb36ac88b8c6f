// Package child starts programs that do not outlive the tests that started them.
package child

import (
	"os/exec"
	"runtime"
	"sync"
)

// Start starts a program that is killed when this process dies, even by SIGKILL. The signal is SIGKILL unless the
// command's Pdeathsig is set. The kernel treats the thread that started a program as its parent, so all programs are
// started by one thread that never ends.
func Start(program *exec.Cmd) error {
	dieWithParent(program)
	result := make(chan error)
	starter() <- func() { result <- program.Start() }
	return <-result
}

var starter = sync.OnceValue(func() chan<- func() {
	calls := make(chan func())
	go func() {
		runtime.LockOSThread()
		for call := range calls {
			call()
		}
	}()
	return calls
})
