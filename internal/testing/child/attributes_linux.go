package child

import (
	"os/exec"
	"syscall"
)

func dieWithParent(program *exec.Cmd) {
	if program.SysProcAttr == nil {
		program.SysProcAttr = &syscall.SysProcAttr{}
	}
	if program.SysProcAttr.Pdeathsig == 0 {
		program.SysProcAttr.Pdeathsig = syscall.SIGKILL
	}
}
