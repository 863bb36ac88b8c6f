package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// bootstrap creates what the cluster needs beyond what Kubernetes makes by
// itself.
func (p *plan) bootstrap(ctx context.Context, a *api) error {
	var objects []map[string]any
	if p.options.Node == Simulated {
		objects = append(objects, simulatedNode())
	} else {
		objects = append(p.dnsObjects(), ingressClass())
		if err := p.waitForSystemNamespace(ctx, a); err != nil {
			return err
		}
	}
	for _, object := range objects {
		if err := a.create(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

// systemNamespace is where Kubernetes keeps what belongs to the cluster.
const systemNamespace = "kube-system"

// collections are where objects of a kind are created.
var collections = map[string]string{
	"Node":               "/api/v1/nodes",
	"IngressClass":       "/apis/networking.k8s.io/v1/ingressclasses",
	"ClusterRole":        "/apis/rbac.authorization.k8s.io/v1/clusterroles",
	"ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
	"Service":            "/api/v1/namespaces/" + systemNamespace + "/services",
	"EndpointSlice":      "/apis/discovery.k8s.io/v1/namespaces/" + systemNamespace + "/endpointslices",
}

// create creates an object; one that exists is left as it is.
func (a *api) create(ctx context.Context, object map[string]any) error {
	kind, _ := object["kind"].(string)
	err := a.do(ctx, http.MethodPost, collections[kind], object, nil)
	var status *statusError
	if errors.As(err, &status) && status.code == http.StatusConflict {
		return nil
	}
	if err != nil {
		return fmt.Errorf("create %s: %w", kind, err)
	}
	return nil
}
