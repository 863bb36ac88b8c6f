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

// TestGitOpsPagesInstallTheOperator renders the chart with the values in the documents for Flux, which embeds Helm 4,
// and for Argo CD, which runs Helm 3.
func TestGitOpsPagesInstallTheOperator(t *testing.T) {
	for page, in := range map[string]struct {
		object          string
		release, values []string
	}{
		// Without a releaseName, Flux would put the target namespace before the name.
		"flux.md": {
			"HelmRelease flux-system/darkroom-operator",
			[]string{"spec", "releaseName"},
			[]string{"spec", "values"},
		},
		"argo-cd.md": {
			"Application argocd/darkroom-operator",
			[]string{"metadata", "name"},
			[]string{"spec", "source", "helm", "valuesObject"},
		},
	} {
		t.Run(page, func(t *testing.T) {
			blocks, err := documents.Blocks(filepath.Join(repository, "docs", page), "yaml")
			must(t, err)
			object := byName(decode(t, []byte(blocks[0])))[in.object]
			if object == nil {
				t.Fatalf("the first block has no %s", in.object)
			}
			release, _, err := unstructured.NestedString(object.Object, in.release...)
			must(t, err)
			given, found, err := unstructured.NestedMap(object.Object, in.values...)
			if err != nil || !found {
				t.Fatalf("no values at %s: %v", strings.Join(in.values, "."), err)
			}
			text, err := yaml.Marshal(given)
			must(t, err)
			objects, err := renderChart(t, release, string(text))
			must(t, err)
			// The other documents use this name.
			manager := podsOf(t, byName(objects)["Deployment darkroom-system/darkroom-operator-controller-manager"])
			if args := manager.Spec.Containers[0].Args; !slices.Contains(args, "--base-domain=images.example.com") {
				t.Errorf("the arguments of the manager are %q", args)
			}
		})
	}
}
