//go:build e2e

package olm

import (
	"path/filepath"
	"slices"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/manifests"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/program"
	"github.com/darkroom-operator/darkroom-operator/test/docs"
)

// installNamespace is where config/olmv1 installs the operator.
const installNamespace = "darkroom-system"

// TestVersion1 installs the operator as a ClusterExtension, with the installer's
// ServiceAccount of config/olmv1, upgrades it, and removes it.
func TestVersion1(t *testing.T) {
	authority := &authority{}
	host := startRegistry(t, authority)
	startVersion1(t, authority, host)
	pushBundle(t, authority, bundleReference(host, previousVersion), bundleOf(previousVersion))
	pushBundle(t, authority, bundleReference(host, thisVersion), bundleOf(thisVersion))
	catalog := host + "/darkroom-operator-catalog:latest"
	pushCatalog(t, authority, host, catalog, previousVersion)

	clusterCatalog := object("ClusterCatalog", packageName)
	set(t, clusterCatalog, map[string]any{"source": map[string]any{"type": "Image", "image": map[string]any{
		"ref": catalog, "pollIntervalMinutes": int64(1),
	}}}, "spec")
	create(t, clusterCatalog)
	waitFor(t, clusterCatalog, "condition=Serving")

	objects, err := manifests.Decode([]byte(mustRun(t, "kubectl", "kustomize", filepath.Join(repository, "config", "olmv1"))))
	if err != nil {
		t.Fatal(err)
	}
	// The catalog of this test is another, and changes.
	objects = slices.DeleteFunc(objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == clusterCatalog.GetKind() })
	apply(t, objects...)
	extension := object("ClusterExtension", packageName)
	waitFor(t, extension, "jsonpath={.status.install.bundle.version}="+previousVersion)
	runsAsPod(t, installNamespace, previousVersion)
	photos := newDarkroom(t, newNamespace(t, "extended"), "photos")
	waitServing(t, photos, defaultBaseDomain)
	before := darkroomPods(t, photos)

	pushCatalog(t, authority, host, catalog, previousVersion, thisVersion)
	waitFor(t, extension, "jsonpath={.status.install.bundle.version}="+thisVersion)
	runsAsPod(t, installNamespace, thisVersion)
	worksOn(t, photos, defaultBaseDomain, before)

	// Removing the extension removes the CRD with it: Darkrooms are deleted first.
	emptyNamespace(t, "extended")
	remove(t, extension)
	for _, installer := range objects {
		if installer.GetKind() != "ClusterExtension" && installer.GetKind() != "Namespace" {
			remove(t, installer)
		}
	}
	eventually(t, "nothing is left outside of namespaces", clusterScoped)
	remove(t, clusterCatalog)

	installsFromTheMirror(t, authority, host, docs.OLM1)
}

// pushBundle pushes a bundle as its Dockerfile makes it, and returns the digest.
func pushBundle(t *testing.T, authority *authority, reference, bundle string) string {
	t.Helper()
	return push(t, authority, reference, map[string]string{
		"/manifests": filepath.Join(bundle, "manifests"), "/metadata": filepath.Join(bundle, "metadata"),
	}, v1.Config{Labels: bundleLabels(t, bundle)})
}

func bundleReference(host, version string) string {
	return host + "/darkroom-operator-bundle:v" + version
}

// pushCatalog pushes a catalog of releases, rendered as `make catalog` does, that names
// the bundles' images in the registry.
func pushCatalog(t *testing.T, authority *authority, host, reference string, versions ...string) {
	t.Helper()
	folder := catalogOf(t, func(bundle, folder, version string) error {
		_, err := program.Output(t.Context(), filepath.Join(repository, "hack", "catalog.sh"), bundle, bundleReference(host, version), filepath.Join(folder, version+".yaml"))
		return err
	}, versions...)
	push(t, authority, reference, map[string]string{"/configs": filepath.Dir(folder)}, v1.Config{Labels: catalogLabels})
}

func object(kind, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion("olm.operatorframework.io/v1")
	o.SetKind(kind)
	o.SetName(name)
	return o
}

// waitFor waits until a condition of `kubectl wait` is met.
func waitFor(t *testing.T, o *unstructured.Unstructured, condition string) {
	t.Helper()
	if _, err := program.Output(t.Context(), "kubectl", "wait", "--for="+condition, o.GetKind(), o.GetName(), "--timeout=4m"); err != nil {
		t.Fatalf("%v: %s", err, mustRun(t, "kubectl", "get", o.GetKind(), o.GetName(), "--output=jsonpath={.status.conditions[*].message}"))
	}
}
