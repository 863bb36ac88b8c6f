//go:build linux

package cluster

import (
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
	const want = `*nat
-D PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-D POSTROUTING -s 10.85.0.0/16 ! -d 10.85.0.0/16 -m comment --comment darkroom-cluster -j MASQUERADE
-F KUBE-SERVICES
-F KUBE-SVC-X
-X KUBE-SERVICES
-X KUBE-SVC-X
COMMIT
`
	if got := undo(saved); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestKillAllRefusesOutsideTheNodesNamespaces(t *testing.T) {
	if err := inside(); err == nil {
		t.Fatal("this test does not run in a node's namespaces")
	}
}
