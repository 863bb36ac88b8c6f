//go:build linux

package cluster

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/prometheus/procfs"
)

// requirements are the programs that a real node needs, and the Debian packages that contain them.
var requirements = []struct{ program, pkg string }{
	{"containerd", "containerd"},
	{"ctr", "containerd"},
	{"runc", "runc"},
	{"iptables-save", "iptables"},
	{"ip6tables-save", "iptables"},
	{"conntrack", "conntrack"},
	{"ip", "iproute2"},
	{"mount", "mount"},
	{"find", "findutils"},
}

// cniDirs are the folders in which distributions and manual installations put the network plugins; cniPlugins are the
// plugins used here.
var (
	cniDirs    = []string{"/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"}
	cniPlugins = []string{"bridge", "host-local", "loopback"}
)

// CheckMachine returns an error if a real node cannot run on this machine. The error explains
// the fix.
func CheckMachine() error {
	if os.Geteuid() != 0 {
		return errors.New("a real node needs root")
	}
	if err := checkCapabilities(); err != nil {
		return err
	}
	var missing []string
	for _, r := range requirements {
		if _, err := exec.LookPath(r.program); err != nil && !slices.Contains(missing, r.pkg) {
			missing = append(missing, r.pkg)
		}
	}
	if _, err := cniPluginDir(); err != nil {
		missing = append(missing, "containernetworking-plugins")
	}
	if len(missing) > 0 {
		return fmt.Errorf("a real node needs programs that are not installed; on Debian and Ubuntu:\n"+
			"  apt-get update && apt-get install -y %s", strings.Join(missing, " "))
	}
	return checkNoOther()
}

// checkCapabilities returns an error in a container that lacks the capabilities of a node.
func checkCapabilities() error {
	var status procfs.ProcStatus
	self, err := procfs.Self()
	if err == nil {
		status, err = self.NewStatus()
	}
	const netAdmin, sysAdmin = 1 << 12, 1 << 21
	if err == nil && status.CapEff&(netAdmin|sysAdmin) != netAdmin|sysAdmin {
		err = errors.New(
			"a real node needs the capabilities NET_ADMIN and SYS_ADMIN; in a container: run it with --privileged",
		)
	}
	return err
}

// cniPluginDir finds the folder of the network plugins.
func cniPluginDir() (string, error) {
	for _, dir := range cniDirs {
		missing := func(plugin string) bool {
			_, err := os.Stat(filepath.Join(dir, plugin))
			return err != nil
		}
		if !slices.ContainsFunc(cniPlugins, missing) {
			return dir, nil
		}
	}
	return "", fmt.Errorf("no folder of %s has the network plugins %s", strings.Join(cniDirs, ", "),
		strings.Join(cniPlugins, ", "))
}

// checkNoOther ensures that no other Kubernetes node runs on the machine, because the two would undo each other's
// packet filter rules.
func checkNoOther() error {
	if _, err := os.Stat(recordPath); err == nil {
		return nil // our own cluster is running or was killed: its rules are removed at the start
	}
	rules, err := save("iptables-save")
	if err != nil {
		return err
	}
	if strings.Contains(rules, "\n:"+kubernetesChains) {
		return errors.New("another Kubernetes node runs on this machine: iptables has chains named " +
			kubernetesChains + "…; " +
			"stop it first, and remove its rules with kube-proxy --cleanup, or restart the machine")
	}
	return nil
}
