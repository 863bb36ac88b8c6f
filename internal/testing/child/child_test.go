//go:build linux

package child_test

import (
	"os/exec"
	"syscall"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/child"
)

func TestAChildIsKilledWithItsParent(t *testing.T) {
	for name, test := range map[string]struct {
		asked *syscall.SysProcAttr
		want  syscall.Signal
	}{
		"nothing asked":                 {nil, syscall.SIGKILL},
		"something else asked":          {&syscall.SysProcAttr{Setpgid: true}, syscall.SIGKILL},
		"another signal, to end itself": {&syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}, syscall.SIGTERM},
	} {
		t.Run(name, func(t *testing.T) {
			program := exec.Command("cat")
			program.SysProcAttr = test.asked
			input, err := program.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := child.Start(program); err != nil {
				t.Fatal(err)
			}
			if got := program.SysProcAttr.Pdeathsig; got != test.want {
				t.Errorf("it would be ended by %v, want %v", got, test.want)
			}
			if err := input.Close(); err != nil {
				t.Error(err)
			}
			if err := program.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
}
