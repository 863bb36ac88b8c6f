//go:build linux

package node

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// requirement is a program that must be installed.
type requirement struct {
	program string
	// The packages that have it, by package manager.
	apt, dnf, apk string
}

var requirements = []requirement{
	{"containerd", "containerd", "containerd", "containerd"},
	{"ctr", "containerd", "containerd", "containerd-ctr"},
	{"containerd-shim-runc-v2", "containerd", "containerd", "containerd"},
	{"runc", "runc", "runc", "runc"},
	{"iptables", "iptables", "iptables-nft", "iptables"},
	{"iptables-save", "iptables", "iptables-nft", "iptables"},
	{"iptables-restore", "iptables", "iptables-nft", "iptables"},
	{"ip6tables-save", "iptables", "iptables-nft", "iptables"},
	{"conntrack", "conntrack", "conntrack-tools", "conntrack-tools"},
	{"ip", "iproute2", "iproute", "iproute2"},
	{"mount", "mount", "util-linux", "util-linux"},
}

// plugins is the requirement of the network plugins, which are not in PATH.
var plugins = requirement{"", "containernetworking-plugins", "containernetworking-plugins", "cni-plugins"}

// managers are the package managers whose packages are known.
var managers = map[string]struct {
	on, command string
	pkg         func(requirement) string
}{
	"apt": {"Debian or Ubuntu", "apt-get update && apt-get install -y", func(r requirement) string { return r.apt }},
	"dnf": {"Fedora", "dnf install -y", func(r requirement) string { return r.dnf }},
	"apk": {"Alpine", "apk add", func(r requirement) string { return r.apk }},
}

// cniDirs are where distributions and hand-made installations put the network
// plugins; cniPlugins are those used here.
var (
	cniDirs    = []string{"/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"}
	cniPlugins = []string{"bridge", "host-local", "portmap", "loopback"}
)

// Check returns an error if a real node cannot run on this machine. The error explains the
// fix.
func Check() error {
	if err := checkPrivileges(); err != nil {
		return err
	}
	// Packages of other managers are called much the same.
	manager := cmp.Or(packageManager(), "apt")
	if missing := missingPackages(manager, installed, hasPlugins()); len(missing) > 0 {
		m := managers[manager]
		return fmt.Errorf("a real node needs programs that are not installed; on %s:\n  %s %s", m.on, m.command, strings.Join(missing, " "))
	}
	return checkNoOther()
}

// MissingPackages returns the package manager of this machine (apt, dnf or apk) and the
// packages that a real node needs and that are not installed. It returns an error if a
// real node could not run with them either, or if the manager is another one.
func MissingPackages() (manager string, packages []string, err error) {
	if err := checkPrivileges(); err != nil {
		return "", nil, err
	}
	manager = packageManager()
	if manager == "" {
		return "", nil, errors.New("no package manager is known for this machine")
	}
	return manager, missingPackages(manager, installed, hasPlugins()), nil
}

// checkPrivileges returns an error if this process lacks the privileges that a real node
// needs.
func checkPrivileges() error {
	if os.Geteuid() != 0 {
		return errors.New("a real node needs root; run this as root, or use simulated nodes (--node simulated)")
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return fmt.Errorf("read the capabilities of this process: %w", err)
	}
	if missing := missingCapabilities(string(status)); len(missing) > 0 {
		return fmt.Errorf("a real node needs the capabilities %s; in a container: run it with --privileged", strings.Join(missing, ", "))
	}
	return nil
}

// missingCapabilities returns those that a node needs and that /proc/PID/status lacks.
func missingCapabilities(status string) []string {
	_, after, found := strings.Cut(status, "\nCapEff:")
	if !found {
		return nil // an unusual kernel; the start will show
	}
	line, _, _ := strings.Cut(after, "\n")
	effective, err := strconv.ParseUint(strings.TrimSpace(line), 16, 64)
	if err != nil {
		return nil
	}
	var missing []string
	for _, c := range []struct {
		name string
		bit  int
	}{{"NET_ADMIN", 12}, {"SYS_ADMIN", 21}} {
		if effective&(1<<c.bit) == 0 {
			missing = append(missing, c.name)
		}
	}
	return missing
}

func installed(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

func hasPlugins() bool {
	_, err := cniPluginDir()
	return err == nil
}

// packageManager returns the key in managers of this machine's; empty if it has none.
func packageManager() string {
	for _, m := range []struct{ program, name string }{{"apt-get", "apt"}, {"dnf", "dnf"}, {"apk", "apk"}} {
		if installed(m.program) {
			return m.name
		}
	}
	return ""
}

// missingPackages returns the packages of what is not installed, each once.
func missingPackages(manager string, installed func(program string) bool, hasPlugins bool) []string {
	var missing []string
	add := func(r requirement) {
		if pkg := managers[manager].pkg(r); !slices.Contains(missing, pkg) {
			missing = append(missing, pkg)
		}
	}
	for _, r := range requirements {
		if !installed(r.program) {
			add(r)
		}
	}
	if !hasPlugins {
		add(plugins)
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
