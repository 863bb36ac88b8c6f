package install

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/documents"
)

// gitOpsObject returns an object of the first block of a document.
func gitOpsObject(t *testing.T, page, kind, name string) *unstructured.Unstructured {
	t.Helper()
	blocks, err := documents.Blocks(filepath.Join(repository, "docs", page), "yaml")
	must(t, err)
	for _, object := range decode(t, []byte(blocks[0])) {
		if object.GetKind() == kind && object.GetName() == name {
			return object
		}
	}
	t.Fatalf("docs/%s has no %s %s", page, kind, name)
	return nil
}

// TestGitOpsPagesInstallTheOperator renders the chart with the values that the documents give
// to Flux, which embeds Helm 4, and to Argo CD, which runs Helm 3.
func TestGitOpsPagesInstallTheOperator(t *testing.T) {
	for page, values := range map[string]struct {
		kind string
		path []string
	}{
		"flux.md":    {"HelmRelease", []string{"spec", "values"}},
		"argo-cd.md": {"Application", []string{"spec", "source", "helm", "valuesObject"}},
	} {
		t.Run(page, func(t *testing.T) {
			object := gitOpsObject(t, page, values.kind, "darkroom-operator")
			given, found, err := unstructured.NestedMap(object.Object, values.path...)
			if err != nil || !found {
				t.Fatalf("no values at %s: %v", strings.Join(values.path, "."), err)
			}
			text, err := yaml.Marshal(given)
			must(t, err)
			objects, err := renderChart(t, releaseOf(object), string(text))
			must(t, err)
			// The name that the other documents use.
			manager := podsOf(t, byName(objects)["Deployment darkroom-system/darkroom-operator-controller-manager"])
			if args := manager.Spec.Containers[0].Args; !slices.Contains(args, "--base-domain=images.example.com") {
				t.Errorf("the arguments of the manager are %q", args)
			}
		})
	}
}

// releaseOf is the name that Flux or Argo CD gives to the release of an object.
func releaseOf(object *unstructured.Unstructured) string {
	if name, _, _ := unstructured.NestedString(object.Object, "spec", "releaseName"); name != "" {
		return name
	}
	if namespace, _, _ := unstructured.NestedString(object.Object, "spec", "targetNamespace"); namespace != "" {
		return namespace + "-" + object.GetName()
	}
	return object.GetName()
}
