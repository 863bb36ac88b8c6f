//go:build !linux

package cluster

import (
	"context"
	"errors"
	"os"
	"syscall"

	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/image"
	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/process"
)

// errNotLinux is the error of real nodes on systems other than Linux.
var errNotLinux = errors.New("a real node needs Linux; use simulated nodes (--node simulated)")

func ownProgram() (string, error) { return os.Executable() }

func supervisorAttributes(NodeKind) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// CheckMachine returns an error, because a real node needs Linux.
func CheckMachine() error { return errNotLinux }

// MissingPackages is for Linux.
func MissingPackages() (string, []string, error) { return "", nil, errNotLinux }

// CheckMachineFree is for Linux.
func CheckMachineFree() error { return errNotLinux }

// Init is for Linux.
func Init([]string) (int, error) { return 0, errNotLinux }

// Load is for Linux.
func Load(context.Context, string, image.Image) error { return errNotLinux }

// LoadArchive is for Linux.
func LoadArchive(context.Context, string, string) (string, error) { return "", errNotLinux }

// Pull is for Linux.
func Pull(context.Context, string, string) error { return errNotLinux }

func lockMachine(string) (func(), error)                              { return nil, errNotLinux }
func sweepMachine() error                                             { return nil }
func stopRealNode() error                                             { return nil }
func hostPID(pid int) int                                             { return pid }
func (p *plan) prepareRealNode(context.Context) error                 { return errNotLinux }
func (p *plan) containerd() (process.Spec, error)                     { return process.Spec{}, errNotLinux }
func (p *plan) realNodeSpecs(context.Context) ([]process.Spec, error) { return nil, errNotLinux }
