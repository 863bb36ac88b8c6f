//go:build e2e

package olm

import (
	"path/filepath"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/program"
	"github.com/darkroom-operator/darkroom-operator/test/docs"
)

// installNamespace is the namespace in which config/olmv1 installs the operator.
const installNamespace = "darkroom-system"

// TestVersion1 installs the operator as a ClusterExtension with the installer's ServiceAccount of config/olmv1,
// upgrades it, and removes it.
func TestVersion1(t *testing.T) {
	removeAfterFailure(t)
	host := startRegistry(t)
	startVersion1(t, host)
	pushBundle(t, bundleReference(host, previousVersion), bundleOf(previousVersion))
	pushBundle(t, bundleReference(host, thisVersion), bundleOf(thisVersion))
	catalog := host + "/darkroom-operator-catalog:latest"
	pushCatalog(t, host, catalog, previousVersion)

	objects := decode(t, mustRun(t, "kubectl", "kustomize", filepath.Join(repository, "config", "olmv1")))
	for _, object := range objects {
		if object.GetKind() == "ClusterCatalog" {
			// The test's own catalog changes.
			object.Object["spec"] = map[string]any{"source": map[string]any{"type": "Image", "image": map[string]any{
				"ref": catalog, "pollIntervalMinutes": int64(1),
			}}}
		}
	}
	apply(t, objects...)
	waitInstalled(t, previousVersion)
	runsAsPod(t, installNamespace, previousVersion)
	photos := newDarkroom(t, newNamespace(t, "extended"), "photos")
	waitServing(t, photos, defaultBaseDomain)
	before := darkroomPods(t, photos)

	// As described in docs/operations.md, because OLM treats changed descriptions in the CRD as unsafe.
	mustRun(t, "kubectl", "patch", "clusterextension", packageName, "--type=merge",
		"--patch", `{"spec":{"install":{"preflight":{"crdUpgradeSafety":{"enforcement":"None"}}}}}`)
	pushCatalog(t, host, catalog, previousVersion, thisVersion)
	waitInstalled(t, thisVersion)
	runsAsPod(t, installNamespace, thisVersion)
	worksOn(t, photos, defaultBaseDomain, before)

	// Removing the extension also removes the CRD, so Darkrooms are deleted first.
	emptyNamespace(t, "extended")
	remove(t, "", "clusterextension", packageName)
	for _, object := range objects {
		if object.GetKind() != "Namespace" {
			remove(t, object.GetNamespace(), object.GetKind(), object.GetName())
		}
	}
	leavesNothing(t)

	installsFromTheMirror(t, host, docs.OLM1)
}

// pushBundle pushes a bundle as an image, as its Dockerfile builds it, and returns the digest.
func pushBundle(t *testing.T, reference, bundle string) string {
	t.Helper()
	return push(t, reference, map[string]string{
		"/manifests": filepath.Join(bundle, "manifests"), "/metadata": filepath.Join(bundle, "metadata"),
	}, v1.Config{Labels: bundleLabels(t, bundle)})
}

func bundleReference(host, version string) string {
	return host + "/darkroom-operator-bundle:v" + version
}

// pushCatalog pushes a catalog of releases, rendered in the same way as by `make catalog`, that references the bundles'
// images in the registry.
func pushCatalog(t *testing.T, host, reference string, versions ...string) {
	t.Helper()
	folder := catalogOf(t, func(bundle, version string) string {
		return mustRun(t, filepath.Join(repository, "hack", "catalog.sh"), bundle,
			bundleReference(host, version), "/dev/stdout")
	}, versions...)
	push(t, reference, map[string]string{"/configs": filepath.Dir(folder)}, v1.Config{Labels: catalogLabels})
}

// waitInstalled waits until the ClusterExtension has installed a release.
func waitInstalled(t *testing.T, version string) {
	t.Helper()
	condition := "--for=jsonpath={.status.install.bundle.version}=" + version
	_, err := program.Output(t.Context(), "kubectl", "wait", condition, "clusterextension", packageName, "--timeout=4m")
	if err != nil {
		t.Fatalf("%v: %s", err, mustRun(t, "kubectl", "get", "clusterextension,clustercatalog",
			"--output=jsonpath={.items[*].status.conditions[*].message}"))
	}
}
