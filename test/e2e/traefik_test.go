//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/access"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/child"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/manifests"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/program"
)

// gatewayNamespace is the namespace of the Gateways.
const gatewayNamespace = "gateways"

// gatewayObjects are the permissions of Traefik and its Gateway, which accepts routes from all namespaces.
const gatewayObjects = `
apiVersion: v1
kind: Namespace
metadata: {name: gateways}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: traefik, namespace: gateways}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: traefik}
rules:
- apiGroups: [""]
  resources: [configmaps, namespaces, secrets, services]
  verbs: [list, watch]
- apiGroups: [discovery.k8s.io]
  resources: [endpointslices]
  verbs: [list, watch]
- apiGroups: [gateway.networking.k8s.io]
  resources: [backendtlspolicies, gatewayclasses, gateways, grpcroutes, httproutes, referencegrants]
  verbs: [list, watch]
- apiGroups: [gateway.networking.k8s.io]
  resources: [backendtlspolicies/status, gatewayclasses/status, gateways/status, grpcroutes/status, httproutes/status]
  verbs: [update]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: traefik}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: traefik}
subjects:
- {kind: ServiceAccount, name: traefik, namespace: gateways}
---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: traefik}
spec: {controllerName: traefik.io/gateway-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: public, namespace: gateways}
spec:
  gatewayClassName: traefik
  listeners:
  - {name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}
`

// startGateways starts Traefik, which logs to dir, and waits until it serves the Gateways. Traefik ends with this
// process.
func startGateways(ctx context.Context, dir string) error {
	objects, err := manifests.Decode([]byte(gatewayObjects))
	if err != nil {
		return err
	}
	if err := manifests.Apply(ctx, kube, limits, objects...); err != nil {
		return err
	}
	kubeconfig := filepath.Join(dir, "traefik.kubeconfig")
	if err := access.WriteKubeconfigOf(ctx, admin, client.ObjectKey{Namespace: gatewayNamespace, Name: "traefik"},
		kubeconfig); err != nil {
		return err
	}
	address, err := program.FreeAddress()
	if err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(dir, "traefik.log"))
	if err != nil {
		return fmt.Errorf("create the log of traefik: %w", err)
	}
	defer log.Close()
	process := exec.Command("traefik", "-address", address)
	process.Env = []string{"KUBECONFIG=" + kubeconfig, "HOME=/nonexistent"}
	process.Stdout, process.Stderr = log, log
	if err := child.Start(process); err != nil {
		return fmt.Errorf("start traefik: %w", err)
	}
	gatewayURL = "http://" + address
	_, err = program.Output(ctx, "kubectl", "wait", "gateway", "public", "--for=condition=Programmed", "--namespace",
		gatewayNamespace, "--timeout", waitTimeout.String())
	return err
}

// requireGateways skips a test on an existing cluster whose Gateways cannot serve.
func requireGateways(t *testing.T) {
	t.Helper()
	if _, _, err := through(t.Context(), theSources.folderURL, "", imagePath); err != nil && os.Getenv("LOAD") != "" {
		t.Skipf("Traefik runs on this machine, which does not reach the pods: %v", err)
	}
}

// routedBy routes the hosts of a Darkroom by a Gateway.
func routedBy(name string) func(*v1alpha1.DarkroomSpec) {
	return func(spec *v1alpha1.DarkroomSpec) {
		spec.Gateway = &v1alpha1.Gateway{ParentRefs: []v1alpha1.ParentRef{{Name: name, Namespace: gatewayNamespace}}}
	}
}
