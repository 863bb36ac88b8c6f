//go:build e2e

package olm

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/manifests"
)

const (
	// lifecycleNamespace is the namespace of version 0 and its catalogs.
	lifecycleNamespace = "olm"
	// globalNamespace is the namespace of operators for all namespaces; the lifecycle manager's own chart creates its
	// OperatorGroup.
	globalNamespace = "operators"
)

// startVersion0 installs the Operator Lifecycle Manager with its own chart, with images of the node. The package server
// and the public catalog are omitted, because the tests do not use them. The manager tries nine times within 2 s to
// remove a CSV, and then again at its next resync, by default after 5 min.
func startVersion0(t *testing.T) {
	t.Helper()
	values := []string{
		"namespace=" + lifecycleNamespace, "catalog_namespace=" + lifecycleNamespace, "operator_namespace=" + globalNamespace,
		"olm.image.ref=" + olmImage, "olm.image.pullPolicy=IfNotPresent", "olm.commandArgs=--interval=30s",
		"catalog.image.ref=" + olmImage, "catalog.image.pullPolicy=IfNotPresent",
		"catalog.opmImageArgs=--opmImage=" + opmImage,
	}
	chart := filepath.Join(moduleFolder(t, "github.com/operator-framework/operator-lifecycle-manager"), "deploy", "chart")
	objects := decode(t, mustRun(t, filepath.Join(binaries, "tools", "helm"), "template", "olm", chart,
		"--include-crds", "--namespace", lifecycleNamespace, "--set", strings.Join(values, ",")))
	apply(t, slices.DeleteFunc(objects, func(o *unstructured.Unstructured) bool {
		return o.GetKind() == "ClusterServiceVersion" || o.GetKind() == "CatalogSource"
	})...)
	waitAvailable(t, lifecycleNamespace, "olm-operator")
	waitAvailable(t, lifecycleNamespace, "catalog-operator")
}

func decode(t *testing.T, documents string) []*unstructured.Unstructured {
	t.Helper()
	objects, err := manifests.Decode([]byte(documents))
	must(t, err)
	return objects
}

// apply applies objects as an administrator does, definitions first.
func apply(t *testing.T, objects ...*unstructured.Unstructured) {
	t.Helper()
	must(t, manifests.Apply(t.Context(), kube, limits, objects...))
}
