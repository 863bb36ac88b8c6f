package cluster

import (
	"fmt"
	"path/filepath"

	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/build"
	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/certs"
	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/process"
)

// kwok plays the kubelet of every node: pods become ready at once and go away
// when deleted, but nothing runs in them.
func (p *plan) kwok() process.Spec {
	return p.program("kwok",
		"--kubeconfig="+p.kubeconfig(certs.Kwok),
		"--config="+filepath.Join(p.options.BinDir, build.StagesFile),
		"--manage-all-nodes=true",
		"--node-lease-duration-seconds=40",
		fmt.Sprintf("--server-address=%s:%d", loopback, p.ports.kwok),
	)
}

const nodeName = "node-1"

// simulatedNode is a node as its kubelet would register it; kwok fills in the
// rest.
func simulatedNode() map[string]any {
	return map[string]any{
		"apiVersion": "v1",
		"kind":       "Node",
		"metadata": map[string]any{
			"name":        nodeName,
			"annotations": map[string]string{"kwok.x-k8s.io/node": "fake"},
			"labels": map[string]string{
				"type":                   "kwok",
				"kubernetes.io/arch":     "amd64",
				"kubernetes.io/os":       "linux",
				"kubernetes.io/hostname": nodeName,
			},
		},
	}
}
