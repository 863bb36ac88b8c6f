//go:build linux

package cluster

import (
	"context"
	"path/filepath"

	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/build"
)

// simulatedNode is a node whose pods are simulated by kwok.
const simulatedNode = `apiVersion: v1
kind: Node
metadata:
  name: ` + nodeName + `
  annotations: {kwok.x-k8s.io/node: fake}
  labels:
    type: kwok
    kubernetes.io/arch: amd64
    kubernetes.io/os: linux
    kubernetes.io/hostname: ` + nodeName + `
`

const ingressClass = `---
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: traefik}
spec: {controller: traefik.io/ingress-controller}
`

// node creates the objects that the node needs, and returns its programs.
func (c *Cluster) node(ctx context.Context) ([]program, error) {
	objects := simulatedNode
	if c.Node == Real {
		objects = c.dnsObjects() + ingressClass
	}
	if _, err := c.kubectl(ctx, objects, "create", "--validate=false", "--filename=-"); err != nil {
		return nil, err
	}
	if c.Node == Real {
		return c.realNode(ctx)
	}
	return []program{c.program("kwok",
		"--kubeconfig="+c.kubeconfig(admin),
		"--config="+filepath.Join(c.BinDir, build.StagesFile),
		"--manage-all-nodes=true",
		"--node-lease-duration-seconds=40",
		"--server-address="+c.local("kwok"),
	)}, nil
}

func (c *Cluster) realNode(ctx context.Context) ([]program, error) {
	if err := c.loadPause(ctx); err != nil {
		return nil, err
	}
	kubelet, err := c.kubelet()
	if err != nil {
		return nil, err
	}
	proxy, err := c.kubeProxy()
	if err != nil {
		return nil, err
	}
	dns, err := c.dns()
	if err != nil {
		return nil, err
	}
	ingress := c.program("traefik", "-ingress", "-address="+c.local("traefik"))
	ingress.env = []string{"KUBECONFIG=" + c.kubeconfig(admin)}
	return []program{kubelet, proxy, dns, ingress}, nil
}
