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
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
)

const (
	packageName   = "darkroom-operator"
	catalogSource = "darkroom-catalog"
	firstCSV      = packageName + ".v" + firstVersion
	secondCSV     = packageName + ".v" + secondVersion
)

// nextChannel replaces the first release by the second.
const nextChannel = `schema: olm.package
name: darkroom-operator
defaultChannel: alpha
---
schema: olm.channel
package: darkroom-operator
name: alpha
entries:
- name: darkroom-operator.v` + firstVersion + `
- name: darkroom-operator.v` + secondVersion + `
  replaces: darkroom-operator.v` + firstVersion + `
`

// nextBundle makes the bundle of the second release, as `make bundle` would.
func nextBundle(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if _, err := run(t.Context(), filepath.Join(repository, "hack", "bundle.sh"), secondVersion, operatorImage+secondVersion, folder, firstCSV); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(folder, "bundle")
}

// renderBundle writes a bundle into a catalog, all its manifests within: then the
// lifecycle manager needs no image of it. The file is opm's.
func renderBundle(ctx context.Context, bundle, catalog, name string) error {
	text, err := run(ctx, filepath.Join(binaries, "k8s", "opm"), "render", bundle, "--output", "yaml")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(catalog, name), text, 0o644)
}

// firstCatalog is that of the repository: its channels, and bundle/.
func firstCatalog(t *testing.T) string {
	t.Helper()
	folder := catalogFolder(t)
	channels, err := os.ReadFile(filepath.Join(repository, "catalog", packageName, "package.yaml"))
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "package.yaml"), channels, 0o644)
	}
	if err == nil {
		err = renderBundle(t.Context(), filepath.Join(repository, "bundle"), folder, "bundle.yaml")
	}
	if err != nil {
		t.Fatal(err)
	}
	return validated(t, folder)
}

// secondCatalog has the next release too.
func secondCatalog(t *testing.T) string {
	t.Helper()
	folder := catalogFolder(t)
	for name, bundle := range map[string]string{"first.yaml": filepath.Join(repository, "bundle"), "second.yaml": nextBundle(t)} {
		if err := renderBundle(t.Context(), bundle, folder, name); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "package.yaml"), []byte(nextChannel), 0o644); err != nil {
		t.Fatal(err)
	}
	return validated(t, folder)
}

func catalogFolder(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), packageName)
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	return folder
}

func validated(t *testing.T, folder string) string {
	t.Helper()
	if _, err := run(t.Context(), filepath.Join(binaries, "k8s", "opm"), "validate", filepath.Dir(folder)); err != nil {
		t.Fatal(err)
	}
	return folder
}

// serveCatalog runs `opm serve` with a catalog in a pod behind a Service, and returns its
// address.
func serveCatalog(t *testing.T, name, folder string) string {
	t.Helper()
	image := "docker.io/darkroom-e2e/catalog-" + name + ":v1"
	err := load(t.Context(), "--path", "/bin/opm", "--entrypoint", "/bin/opm serve /configs --termination-log=/tmp/ended",
		"--tree", "/configs/"+packageName+"="+folder, image+"="+filepath.Join(binaries, "k8s", "opm"))
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{"catalog": name}
	meta := metav1.ObjectMeta{Namespace: lifecycleNamespace, Name: "catalog-" + name}
	service := &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{
		Selector: labels, Ports: []corev1.ServicePort{{Name: "grpc", Port: 50051}},
	}}
	create(t, service, &appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{
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
	return service.Spec.ClusterIP + ":50051"
}

// pointCatalogSource has the CatalogSource read from an address, and waits until it does.
func pointCatalogSource(t *testing.T, address string) {
	t.Helper()
	source := &operatorsv1alpha1.CatalogSource{ObjectMeta: metav1.ObjectMeta{Namespace: lifecycleNamespace, Name: catalogSource}}
	err := kube.Get(t.Context(), client.ObjectKeyFromObject(source), source)
	if client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	if err != nil {
		source.Spec = operatorsv1alpha1.CatalogSourceSpec{
			SourceType: operatorsv1alpha1.SourceTypeGrpc, Address: address, DisplayName: "Darkroom", Publisher: "Darkroom",
		}
		create(t, source)
	} else {
		patch := client.MergeFrom(source.DeepCopy())
		source.Spec.Address = address
		if err := kube.Patch(t.Context(), source, patch); err != nil {
			t.Fatal(err)
		}
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
