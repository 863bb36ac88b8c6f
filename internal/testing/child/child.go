// Package child starts programs that do not outlive the tests that started them.
package child

import (
	"os/exec"
	"runtime"
	"sync"
)

// Start starts a program that dies with this process, even when that is killed: by the
// signal SIGKILL, unless the command's Pdeathsig names another. To the kernel the parent
// of a program is the thread that started it, so all are started by one thread that
// never ends.
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
