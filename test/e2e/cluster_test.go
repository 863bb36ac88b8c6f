//go:build e2e

package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/access"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/manifests"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/wait"
)

// Names that config/default gives.
const (
	operatorNamespace = "darkroom-system"
	operatorAccount   = "darkroom-operator-controller-manager"
	metricsReader     = "darkroom-operator-metrics-reader"
)

// Images as the node knows them. The first is the chart's default.
const (
	darkroomImage = "docker.io/gojektech/darkroom:v0.4.2"
	sourcesImage  = "docker.io/darkroom-e2e/sources:v1"

	// otherVersion is another release of Darkroom; its image holds the same program.
	otherVersion       = "0.4.1"
	otherDarkroomImage = "docker.io/gojektech/darkroom:v" + otherVersion
)

// gateImage returns the chart's default image of the gate.
func gateImage() (string, error) {
	version, err := os.ReadFile(filepath.Join(repository, "gate", "VERSION"))
	return "ghcr.io/darkroom-operator/darkroom-gate:v" + strings.TrimSpace(string(version)), err
}

// fieldManager owns what the tests apply.
const fieldManager = "darkroom-e2e"

// loadImages packs the built programs as images, and loads them into the nodes: no registry
// is asked.
func loadImages(ctx context.Context, dir string) error {
	tool := filepath.Join(binaries, "cluster")
	if _, err := os.Stat(tool); err != nil {
		tool = filepath.Join(repository, "bin", "cluster")
	}
	load := []string{tool, "load"}
	if given := strings.Fields(os.Getenv("LOAD")); len(given) > 0 {
		load = given
	}
	gate, err := gateImage()
	if err != nil {
		return err
	}
	for image, program := range map[string]string{
		darkroomImage: "darkroom", otherDarkroomImage: "darkroom", sourcesImage: "sources", gate: "gate",
	} {
		archive := filepath.Join(dir, "image.tar")
		for _, args := range [][]string{
			{tool, "image", "--output", archive, "--workdir", "/app", image + "=" + filepath.Join(binaries, program)},
			append(slices.Clone(load), archive),
		} {
			if out, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput(); err != nil {
				return fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, out)
			}
		}
	}
	return nil
}

// installDefinitions applies config/default, what `make deploy` installs, but for
// the operator's Deployment: its process is started by the tests. The optional
// kinds that the chart can make are added, so that the operator watches them and
// needs the rights for them.
func installDefinitions(ctx context.Context) error {
	built, err := exec.CommandContext(ctx, "kubectl", "kustomize", filepath.Join(repository, "config", "overlays", "with-probe-via-apiserver")).Output()
	if err != nil {
		return fmt.Errorf("build the manifests of the operator: %w", withStderr(err))
	}
	list := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/gateway-api")
	list.Dir = repository
	gatewayAPI, err := list.Output()
	if err != nil {
		return fmt.Errorf("find the Gateway API: %w", withStderr(err))
	}
	documents := [][]byte{built, []byte(serviceMonitorDefinition)}
	// The operator needs httproutes, Traefik all of them.
	for _, plural := range []string{"backendtlspolicies", "gatewayclasses", "gateways", "grpcroutes", "httproutes", "referencegrants"} {
		definition, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(gatewayAPI)),
			"config", "crd", "standard", "gateway.networking.k8s.io_"+plural+".yaml"))
		if err != nil {
			return fmt.Errorf("read a CRD of the Gateway API: %w", err)
		}
		documents = append(documents, definition)
	}
	objects, err := manifests.Decode(bytes.Join(documents, []byte("\n---\n")))
	if err != nil {
		return err
	}
	var definitions []string
	for _, object := range objects {
		switch object.GetKind() {
		case "Deployment":
			continue
		case "CustomResourceDefinition":
			definitions = append(definitions, object.GetName())
		}
		if err := applyObject(ctx, object); err != nil {
			return err
		}
	}
	for _, name := range definitions {
		if err := poll(ctx, "definition "+name+" is established", func(ctx context.Context) error { return established(ctx, name) }); err != nil {
			return err
		}
	}
	return nil
}

// serviceMonitorDefinition is a substitute for the CRD of the Prometheus Operator.
const serviceMonitorDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: servicemonitors.monitoring.coreos.com
spec:
  group: monitoring.coreos.com
  scope: Namespaced
  names: {kind: ServiceMonitor, listKind: ServiceMonitorList, plural: servicemonitors, singular: servicemonitor}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
`

func applyObject(ctx context.Context, object *unstructured.Unstructured) error {
	// Kinds of definitions that were applied a moment ago may not be served yet.
	return poll(ctx, "applied "+object.GetKind()+" "+object.GetName(), func(ctx context.Context) error {
		err := kube.Apply(ctx, client.ApplyConfigurationFromUnstructured(object.DeepCopy()), client.FieldOwner(fieldManager), client.ForceOwnership)
		if err != nil && !meta.IsNoMatchError(err) {
			return wait.Permanent(err)
		}
		return err
	})
}

func established(ctx context.Context, name string) error {
	definition := &unstructured.Unstructured{}
	definition.SetAPIVersion("apiextensions.k8s.io/v1")
	definition.SetKind("CustomResourceDefinition")
	if err := kube.Get(ctx, client.ObjectKey{Name: name}, definition); err != nil {
		return err
	}
	conditions, _, err := unstructured.NestedSlice(definition.Object, "status", "conditions")
	if err != nil {
		return err
	}
	for _, condition := range conditions {
		if c, ok := condition.(map[string]any); ok && c["type"] == "Established" && c["status"] == "True" {
			return nil
		}
	}
	return fmt.Errorf("conditions are %v", conditions)
}

// operatorKubeconfig writes a kubeconfig with a token of the operator's own
// ServiceAccount, so that it has the rights that users give it and no others.
func operatorKubeconfig(ctx context.Context, dir string) (string, error) {
	return kubeconfigOf(ctx, operatorNamespace, operatorAccount, filepath.Join(dir, "operator.kubeconfig"))
}

// kubeconfigOf writes a kubeconfig with a token of a ServiceAccount.
func kubeconfigOf(ctx context.Context, namespace, account, path string) (string, error) {
	return path, access.WriteKubeconfigOf(ctx, admin, client.ObjectKey{Namespace: namespace, Name: account}, path)
}

// restricted returns a namespace in which Pod Security refuses every pod that is
// not hardened.
func restricted(name, generateName string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: name, GenerateName: generateName,
		Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
}

// withStderr adds the standard error of a program to its error.
func withStderr(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) && len(exit.Stderr) > 0 {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(exit.Stderr))
	}
	return err
}
