//go:build e2e

package olm

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/manifests"
	"github.com/darkroom-operator/darkroom-operator/test/docs"
)

// installNamespace is where config/olmv1 installs the operator.
const installNamespace = "darkroom-system"

// TestVersion1 installs the operator as a ClusterExtension, with the installer's
// ServiceAccount of config/olmv1, upgrades it, and removes it.
func TestVersion1(t *testing.T) {
	authority := newAuthority(t)
	registry := startRegistry(t, authority)
	host := registry.host
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
	waitCondition(t, clusterCatalog, "Serving")

	text, err := run(t.Context(), "kubectl", "kustomize", filepath.Join(repository, "config", "olmv1"))
	if err != nil {
		t.Fatal(err)
	}
	objects, err := manifests.Decode(text)
	if err == nil {
		// The catalog of this test is another, and changes.
		objects = slices.DeleteFunc(objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == clusterCatalog.GetKind() })
		err = applyAll(t.Context(), objects)
	}
	if err != nil {
		t.Fatal(err)
	}
	extension := object("ClusterExtension", packageName)
	waitInstalled(t, extension, previousVersion)
	waitAvailable(t, installNamespace, managerName)
	waitAvailable(t, installNamespace, apiServerName)
	photos := newDarkroom(t, newNamespace(t, "extended"), "photos")
	waitServing(t, photos, defaultBaseDomain)
	before := darkroomPods(t, photos)

	pushCatalog(t, authority, host, catalog, previousVersion, thisVersion)
	waitInstalled(t, extension, thisVersion)
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
	eventually(t, "nothing is left outside of namespaces", func(ctx context.Context) error {
		found, err := clusterScoped(ctx)
		if err == nil && len(found) > 0 {
			err = fmt.Errorf("there are %q", found)
		}
		return err
	})
	remove(t, clusterCatalog)

	installsFromTheMirror(t, authority, registry, docs.OLM1)
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
		_, err := run(t.Context(), filepath.Join(repository, "hack", "catalog.sh"), bundle, bundleReference(host, version), filepath.Join(folder, version+".yaml"))
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

func waitCondition(t *testing.T, o *unstructured.Unstructured, condition string) {
	t.Helper()
	eventually(t, o.GetKind()+" is "+condition, func(ctx context.Context) error {
		if err := kube.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
		conditions, _, err := unstructured.NestedSlice(o.Object, "status", "conditions")
		if err != nil {
			return err
		}
		for _, each := range conditions {
			if c, ok := each.(map[string]any); ok && c["type"] == condition && c["status"] == string(metav1.ConditionTrue) {
				return nil
			}
		}
		return fmt.Errorf("its conditions are %v: %s", conditions, podsOf(ctx, v1Namespace))
	})
}

// waitInstalled waits until the extension is installed in a version.
func waitInstalled(t *testing.T, extension *unstructured.Unstructured, version string) {
	t.Helper()
	waitCondition(t, extension, "Installed")
	eventually(t, "version "+version+" is installed", func(ctx context.Context) error {
		if err := kube.Get(ctx, client.ObjectKeyFromObject(extension), extension); err != nil {
			return err
		}
		if installed, _, _ := unstructured.NestedString(extension.Object, "status", "install", "bundle", "version"); installed != version {
			conditions, _, _ := unstructured.NestedSlice(extension.Object, "status", "conditions")
			return fmt.Errorf("%s is: %v", installed, conditions)
		}
		return nil
	})
	pods := &corev1.PodList{}
	if err := kube.List(t.Context(), pods, client.InNamespace(installNamespace)); err != nil {
		t.Fatal(err)
	}
	for _, pod := range pods.Items {
		if strings.HasPrefix(pod.Name, managerName) && pod.Spec.ServiceAccountName != managerName {
			t.Errorf("%s runs as %s", pod.Name, pod.Spec.ServiceAccountName)
		}
	}
}
