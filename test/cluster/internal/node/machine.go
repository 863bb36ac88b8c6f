//go:build linux

package node

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// requirement is a program that must be installed.
type requirement struct {
	program string
	// pkg is the Debian package that has it.
	pkg string
}

var requirements = []requirement{
	{"containerd", "containerd"},
	{"ctr", "containerd"},
	{"containerd-shim-runc-v2", "containerd"},
	{"runc", "runc"},
	{"iptables", "iptables"},
	{"iptables-save", "iptables"},
	{"iptables-restore", "iptables"},
	{"ip6tables-save", "iptables"},
	{"conntrack", "conntrack"},
	{"ip", "iproute2"},
	{"mount", "mount"},
}

// cniDirs are where distributions and hand-made installations put the network
// plugins; cniPlugins are those used here.
var (
	cniDirs    = []string{"/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"}
	cniPlugins = []string{"bridge", "host-local", "portmap", "loopback"}
)

// Check says why a real node cannot run on this machine, and what to do.
func Check() error {
	if os.Geteuid() != 0 {
		return errors.New("a real node needs root; run this as root, or use simulated nodes (--node simulated)")
	}
	missing := missingPackages(func(program string) bool {
		_, err := exec.LookPath(program)
		return err == nil
	})
	if _, err := cniPluginDir(); err != nil {
		missing = append(missing, "containernetworking-plugins")
	}
	if len(missing) > 0 {
		return fmt.Errorf("a real node needs programs that are not installed; on Debian or Ubuntu:\n"+
			"  apt-get update && apt-get install -y %s", strings.Join(missing, " "))
	}
	return checkNoOther()
}

// missingPackages returns the packages of the programs not installed.
func missingPackages(installed func(program string) bool) []string {
	var missing []string
	for _, r := range requirements {
		if !installed(r.program) && !slices.Contains(missing, r.pkg) {
			missing = append(missing, r.pkg)
		}
	}
	return missing
}

// cniPluginDir finds the folder of the network plugins.
func cniPluginDir() (string, error) {
	for _, dir := range cniDirs {
		found := 0
		for _, plugin := range cniPlugins {
			if _, err := os.Stat(filepath.Join(dir, plugin)); err == nil {
				found++
			}
		}
		if found == len(cniPlugins) {
			return dir, nil
		}
	}
	return "", fmt.Errorf("no folder of %s has the network plugins %s", strings.Join(cniDirs, ", "), strings.Join(cniPlugins, ", "))
}

// checkNoOther makes sure that no other Kubernetes node works on the machine:
// the two would undo each other's packet filter rules.
func checkNoOther() error {
	if LockedBy() != "" {
		return nil // it is ours; who wants to start another is told elsewhere
	}
	if r, err := loadRecord(); err != nil || r != nil {
		return err // rules may be left from a killed cluster; they are cleared at the start
	}
	rules, err := save("iptables-save")
	if err != nil {
		return err
	}
	if strings.Contains(rules, ":KUBE-SERVICES ") {
		return errors.New("another Kubernetes node works on this machine: iptables has the chain KUBE-SERVICES; " +
			"stop it first, or remove what it left with: kube-proxy --cleanup")
	}
	return nil
}
