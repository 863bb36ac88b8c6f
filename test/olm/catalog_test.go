//go:build e2e

package olm

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/yaml"

	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/manifests"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/program"
)

const (
	packageName = "darkroom-operator"
	// catalogSource is not that of the documents: OLM remembers for a while what a CatalogSource
	// of a name had.
	catalogSource = "tested-catalog"
)

// csv is the name of a release's ClusterServiceVersion.
func csv(version string) string { return packageName + ".v" + version }

// bundleOf is the folder of a release's bundle.
func bundleOf(version string) string {
	if version == thisVersion {
		return filepath.Join(repository, "bundle")
	}
	return filepath.Join(previousSource(), "bundle")
}

// catalogOf makes a catalog of releases: the channels of catalog/, and a file by render for
// each release in them. One that catalog/ does not know, because it was never released, is
// in no catalog with others: users who tried it get to the release by its skipRange.
func catalogOf(t *testing.T, render func(bundle, folder, version string) error, versions ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, "catalog", packageName, "package.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	documents, err := manifests.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), packageName)
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	var channels []byte
	for _, document := range documents {
		if document.Object["schema"] == "olm.channel" {
			entries, listed := entriesOf(t, document, versions)
			set(t, document, entries, "entries")
			for _, version := range listed {
				if err := render(bundleOf(version), folder, version); err != nil {
					t.Fatal(err)
				}
			}
		}
		text, err := yaml.Marshal(document.Object)
		if err != nil {
			t.Fatal(err)
		}
		channels = append(append(channels, "---\n"...), text...)
	}
	if err := os.WriteFile(filepath.Join(folder, "package.yaml"), channels, 0o644); err != nil {
		t.Fatal(err)
	}
	mustRun(t, filepath.Join(binaries, "k8s", "opm"), "validate", filepath.Dir(folder))
	return folder
}

// entriesOf are a channel's entries of some releases, and which of those it has.
func entriesOf(t *testing.T, channel *unstructured.Unstructured, versions []string) (entries []any, listed []string) {
	t.Helper()
	all, _, err := unstructured.NestedSlice(channel.Object, "entries")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range all {
		for _, version := range versions {
			if entry.(map[string]any)["name"] == csv(version) {
				entries, listed = append(entries, entry), append(listed, version)
			}
		}
	}
	if len(entries) == 0 {
		return []any{map[string]any{"name": csv(versions[0])}}, versions[:1]
	}
	return entries, listed
}

// withBundles renders a bundle into a catalog, all its manifests within: then the lifecycle
// manager needs no image of it.
func withBundles(t *testing.T) func(bundle, folder, version string) error {
	return func(bundle, folder, version string) error {
		text, err := program.Output(t.Context(), filepath.Join(binaries, "k8s", "opm"), "render", bundle, "--output", "yaml")
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(folder, version+".yaml"), text, 0o644)
	}
}

// serveCatalog runs `opm serve` with a catalog in a pod behind a Service, and returns its
// address.
func serveCatalog(t *testing.T, name, folder string) string {
	t.Helper()
	image := "docker.io/darkroom-e2e/catalog-" + name + ":v1"
	err := load(t.Context(), "--path", "/bin/opm", "--entrypoint", "/bin/opm serve /configs --termination-log=/tmp/ended",
		"--file", "/configs/"+packageName+"="+folder, image+"="+filepath.Join(binaries, "k8s", "opm"))
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{"catalog": name}
	meta := metav1.ObjectMeta{Namespace: lifecycleNamespace, Name: "catalog-" + name}
	create(t, &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{
		Selector: labels, Ports: []corev1.ServicePort{{Name: "grpc", Port: 50051}},
	}}, &appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{
		Replicas: ptr.To(int32(1)),
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{
				Name: "opm", Image: image, TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
				ReadinessProbe: &corev1.Probe{PeriodSeconds: 1, ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: intstr.FromInt32(50051)}}},
			}}},
		},
	}})
	waitAvailable(t, lifecycleNamespace, meta.Name)
	return addressOfCatalog(t, name)
}

// addressOfCatalog is that of a catalog that is being served.
func addressOfCatalog(t *testing.T, name string) string {
	t.Helper()
	service := &corev1.Service{}
	if err := kube.Get(t.Context(), client.ObjectKey{Namespace: lifecycleNamespace, Name: "catalog-" + name}, service); err != nil {
		t.Fatal(err)
	}
	return service.Spec.ClusterIP + ":50051"
}

// pointCatalogSource points the CatalogSource to an address, and waits until it is read.
func pointCatalogSource(t *testing.T, address string) {
	t.Helper()
	source := &operatorsv1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: lifecycleNamespace, Name: catalogSource}}
	_, err := controllerutil.CreateOrUpdate(t.Context(), kube, source, func() error {
		source.Spec = operatorsv1alpha1.CatalogSourceSpec{
			SourceType: operatorsv1alpha1.SourceTypeGrpc, Address: address, DisplayName: "Darkroom", Publisher: "Darkroom",
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the catalog is read", func(ctx context.Context) error {
		if err := kube.Get(ctx, client.ObjectKeyFromObject(source), source); err != nil {
			return err
		}
		state := source.Status.GRPCConnectionState
		if state == nil || state.LastObservedState != "READY" || state.Address != address {
			return fmt.Errorf("its connection is %+v: %s", state, podsOf(ctx, lifecycleNamespace))
		}
		return nil
	})
}
