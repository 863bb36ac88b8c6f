//go:build e2e

package olm

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/manifests"
)

const (
	// lifecycleNamespace is where version 0 and its catalogs live.
	lifecycleNamespace = "olm"
	// globalNamespace is where operators are for all namespaces; the lifecycle
	// manager's own chart makes its OperatorGroup.
	globalNamespace = "operators"
)

// startVersion0 installs the Operator Lifecycle Manager by its own chart.
func startVersion0(t *testing.T) {
	t.Helper()
	module, err := moduleFolder(t.Context(), "github.com/operator-framework/operator-lifecycle-manager")
	if err != nil {
		t.Fatal(err)
	}
	objects, err := lifecycleManifests(filepath.Join(module, "deploy", "chart"))
	if err != nil {
		t.Fatal(err)
	}
	apply(t, objects...)
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

// lifecycleManifests are those of the lifecycle manager's chart, with images of the node.
// The package server and the public catalog are left out: nothing here asks for them. The
// manager tries nine times within 2 s to remove a CSV, and then again at its next resync, by
// default after 5 min.
func lifecycleManifests(folder string) ([]*unstructured.Unstructured, error) {
	chart, err := loader.Load(folder)
	if err != nil {
		return nil, err
	}
	values := map[string]any{}
	err = yaml.Unmarshal([]byte(fmt.Sprintf(`
namespace: %[1]s
catalog_namespace: %[1]s
operator_namespace: %[2]s
olm: {image: {ref: %[3]s, pullPolicy: IfNotPresent}, commandArgs: --interval=30s}
catalog: {image: {ref: %[3]s, pullPolicy: IfNotPresent}, opmImageArgs: --opmImage=%[4]s}
`, lifecycleNamespace, globalNamespace, olmImage, opmImage)), &values)
	if err != nil {
		return nil, err
	}
	toRender, err := chartutil.ToRenderValues(chart, values, chartutil.ReleaseOptions{Name: "olm", Namespace: lifecycleNamespace}, nil)
	if err != nil {
		return nil, err
	}
	files, err := engine.Render(chart, toRender)
	if err != nil {
		return nil, err
	}
	var order []string
	for _, crd := range chart.CRDObjects() {
		files[crd.Name] = string(crd.File.Data)
		order = append(order, crd.Name)
	}
	for _, part := range []string{
		"00-namespace", "01-networkpolicies", "02-olm-operator", "03-olmconfig", "07-olm-operator", "08-catalog-operator", "09-aggregated", "13-operatorgroup",
	} {
		for name := range files {
			if strings.Contains(name, "templates/") && strings.Contains(name, "_olm_"+part) {
				order = append(order, name)
			}
		}
	}
	var objects []*unstructured.Unstructured
	for _, name := range order {
		decoded, err := manifests.Decode([]byte(files[name]))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		objects = append(objects, decoded...)
	}
	return objects, nil
}
