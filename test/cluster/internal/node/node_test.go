//go:build linux

package node

import (
	"slices"
	"strings"
	"testing"
)

const saved = `# Generated
*nat
:PREROUTING ACCEPT [0:0]
:POSTROUTING ACCEPT [0:0]
:DOCKER - [0:0]
:KUBE-SERVICES - [0:0]
:KUBE-SVC-X - [0:0]
:CNI-OLD - [0:0]
-A PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-A PREROUTING -j DOCKER
-A PREROUTING -j CNI-OLD
-A POSTROUTING -s 10.85.0.0/16 ! -d 10.85.0.0/16 -m comment --comment darkroom-cluster -j MASQUERADE
-A KUBE-SERVICES -d 10.96.0.1/32 -j KUBE-SVC-X
COMMIT
*filter
:FORWARD ACCEPT [0:0]
-A FORWARD -i docker0 -j ACCEPT
COMMIT
`

func TestUndoRemovesOnlyWhatTheNodeMade(t *testing.T) {
	before := []string{"iptables nat PREROUTING", "iptables nat DOCKER", "iptables nat CNI-OLD"}
	const want = `*nat
-D PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-D POSTROUTING -s 10.85.0.0/16 ! -d 10.85.0.0/16 -m comment --comment darkroom-cluster -j MASQUERADE
-F KUBE-SERVICES
-F KUBE-SVC-X
-X KUBE-SERVICES
-X KUBE-SVC-X
COMMIT
`
	if got := undo("iptables", saved, before); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestUndoLeavesACleanMachineAlone(t *testing.T) {
	const clean = "*filter\n:INPUT ACCEPT [0:0]\n-A INPUT -j ACCEPT\nCOMMIT\n"
	if got := undo("iptables", clean, nil); got != "" {
		t.Errorf("got:\n%s", got)
	}
}

func TestChainsOf(t *testing.T) {
	got := chainsOf("iptables", saved)
	for _, want := range []string{"iptables nat DOCKER", "iptables filter FORWARD"} {
		if !slices.Contains(got, want) {
			t.Errorf("%v has no %q", got, want)
		}
	}
}

func TestCgroupMounts(t *testing.T) {
	tests := []struct {
		name, mountinfo string
		want            []string
	}{
		{"version 1, one hierarchy per controller", `30 20 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw
31 30 0:27 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
32 30 0:28 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory
`, []string{"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/memory"}},
		{"version 2", "30 20 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n", []string{"/sys/fs/cgroup"}},
		{"none", "20 1 8:1 / / rw - ext4 /dev/vda rw\n", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := cgroupMounts(test.mountinfo); !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func TestInnerPID(t *testing.T) {
	tests := []struct {
		name, status string
		want         int
	}{
		{"in a namespace", "Name:\tetcd\nPid:\t4824\nNSpid:\t4824\t24\n", 24},
		{"in a namespace of a namespace", "NSpid:\t4824\t24\t7\n", 7},
		{"in none", "NSpid:\t4824\n", 4824},
		{"an old kernel", "Name:\tetcd\n", 0},
	}
	for _, test := range tests {
		if got := innerPID(test.status); got != test.want {
			t.Errorf("%s: got %d, want %d", test.name, got, test.want)
		}
	}
}

func TestMissingPackagesAreNamedOnceAndByManager(t *testing.T) {
	withoutSome := func(program string) bool {
		return !strings.Contains(program, "tables") && program != "runc" && program != "ctr"
	}
	tests := []struct {
		manager string
		want    []string
	}{
		{"apt", []string{"containerd", "runc", "iptables", "containernetworking-plugins"}},
		{"dnf", []string{"containerd", "runc", "iptables-nft", "containernetworking-plugins"}},
		{"apk", []string{"containerd-ctr", "runc", "iptables", "cni-plugins"}},
	}
	for _, test := range tests {
		if got := missingPackages(test.manager, withoutSome, false); !slices.Equal(got, test.want) {
			t.Errorf("%s: got %v, want %v", test.manager, got, test.want)
		}
	}
	if got := missingPackages("apt", func(string) bool { return true }, true); len(got) > 0 {
		t.Errorf("nothing is missing, but got %v", got)
	}
}

func TestMissingCapabilities(t *testing.T) {
	tests := []struct {
		name, status string
		want         []string
	}{
		{"all", "Name:\tcluster\nCapEff:\t000001ffffffffff\n", nil},
		{"root of an ordinary container", "Name:\tcluster\nCapEff:\t00000000a80425fb\n", []string{"NET_ADMIN", "SYS_ADMIN"}},
		{"one", "Name:\tcluster\nCapEff:\t00000000a80435fb\n", []string{"SYS_ADMIN"}},
		{"unknown", "Name:\tcluster\n", nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := missingCapabilities(test.status); !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func TestKillAllRefusesOutsideTheNodesNamespaces(t *testing.T) {
	if err := inside(); err == nil {
		t.Fatal("this test does not run in a node's namespaces")
	}
}
