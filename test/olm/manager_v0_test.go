//go:build e2e

package olm

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/manifests"
)

const (
	// lifecycleNamespace is where version 0 and its catalogs live.
	lifecycleNamespace = "olm"
	// globalNamespace is where operators are for all namespaces; the lifecycle
	// manager's own manifests make its OperatorGroup.
	globalNamespace = "operators"
)

// publicImage is the image of the lifecycle manager in its manifests.
var publicImage = regexp.MustCompile(`quay\.io/operator-framework/olm@sha256:[0-9a-f]+`)

// startVersion0 installs the Operator Lifecycle Manager by its own manifests, with images of the
// node. The package server and the public catalog are left out: nothing here asks for them. The
// manager tries nine times within 2 s to remove a CSV, and then again at its next resync, by
// default after 5 min.
func startVersion0(t *testing.T) {
	t.Helper()
	module, err := moduleFolder(t.Context(), "github.com/operator-framework/operator-lifecycle-manager")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"crds.yaml", "olm.yaml"} {
		text, err := os.ReadFile(filepath.Join(module, "deploy", "upstream", "quickstart", file))
		if err != nil {
			t.Fatal(err)
		}
		objects, err := manifests.Decode([]byte(strings.NewReplacer(
			"- --writeStatusName", "- --interval=30s\n          - --writeStatusName",
			"- -util-image", "- --opmImage="+opmImage+"\n          - -util-image",
		).Replace(publicImage.ReplaceAllString(string(text), olmImage))))
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range objects {
			if kind := object.GetKind(); kind != "ClusterServiceVersion" && kind != "CatalogSource" {
				apply(t, object)
			}
		}
	}
	waitAvailable(t, lifecycleNamespace, "olm-operator")
	waitAvailable(t, lifecycleNamespace, "catalog-operator")
}

// apply applies objects as an administrator does, definitions first.
func apply(t *testing.T, objects ...*unstructured.Unstructured) {
	t.Helper()
	if err := manifests.Apply(t.Context(), kube, limits, objects...); err != nil {
		t.Fatal(err)
	}
}
