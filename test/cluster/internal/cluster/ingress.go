package cluster

import (
	"fmt"

	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/certs"
	"github.com/darkroom-operator/darkroom-operator/test/cluster/internal/process"
)

// ingress serves the Ingresses of a real node's cluster on loopback.
func (p *plan) ingress() process.Spec {
	spec := p.program("traefik", "-ingress", fmt.Sprintf("-address=%s:%d", loopback, p.ports.ingress))
	spec.Env = []string{"KUBECONFIG=" + p.kubeconfig(certs.Ingress)}
	return spec
}

// ingressClass lets users name the controller.
func ingressClass() map[string]any {
	return map[string]any{
		"apiVersion": "networking.k8s.io/v1", "kind": "IngressClass",
		"metadata": map[string]any{"name": "traefik"},
		"spec":     map[string]any{"controller": "traefik.io/ingress-controller"},
	}
}
