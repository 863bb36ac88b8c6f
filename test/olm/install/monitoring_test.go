package install

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

// The namespace of an operator that OLM installs is known only when monitoring is applied.
func TestMonitoringIsAcceptedInAnyNamespace(t *testing.T) {
	kube, said := connect(t)
	kinds := map[string]int{}
	for _, object := range kustomizeBuild(t, "monitoring") {
		kinds[object.GetKind()]++
		if object.GetNamespace() != "" {
			t.Errorf("%s %s is in namespace %s", object.GetKind(), object.GetName(), object.GetNamespace())
		}
		if object.GetKind() != "ClusterRole" {
			object.SetNamespace("default")
		}
		if err := apply(t.Context(), kube, object); err != nil {
			t.Error(err)
		}
	}
	if expected := map[string]int{"ServiceMonitor": 2, "PrometheusRule": 1, "ClusterRole": 1}; !maps.Equal(kinds, expected) {
		t.Errorf("there are %v, expected %v", kinds, expected)
	}
	if warned := said.all(); len(warned) > 0 {
		t.Errorf("the API server warns: %q", warned)
	}
}

func TestEveryServiceOfTheBundleIsMonitored(t *testing.T) {
	var monitors []*unstructured.Unstructured
	for _, object := range kustomizeBuild(t, "monitoring") {
		if object.GetKind() == "ServiceMonitor" {
			monitors = append(monitors, object)
		}
	}
	files, err := filepath.Glob(filepath.Join(repository, "bundle", "manifests", "*_service.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the bundle has %d Services (%v)", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		service := convert[corev1.Service](t, decode(t, text)[0])
		if !slices.ContainsFunc(monitors, func(monitor *unstructured.Unstructured) bool { return scrapes(t, monitor, &service) }) {
			t.Errorf("no ServiceMonitor scrapes %s", service.Name)
		}
	}
}

// scrapes reports whether a ServiceMonitor selects a Service, and has only endpoints that are
// ports of it.
func scrapes(t *testing.T, monitor *unstructured.Unstructured, service *corev1.Service) bool {
	t.Helper()
	spec := convert[struct {
		Spec struct {
			Selector  metav1.LabelSelector `json:"selector"`
			Endpoints []struct {
				Port string `json:"port"`
			} `json:"endpoints"`
		} `json:"spec"`
	}](t, monitor).Spec
	selector, err := metav1.LabelSelectorAsSelector(&spec.Selector)
	if err != nil {
		t.Fatal(err)
	}
	if !selector.Matches(labels.Set(service.Labels)) {
		return false
	}
	for _, endpoint := range spec.Endpoints {
		if !slices.ContainsFunc(service.Spec.Ports, func(port corev1.ServicePort) bool { return port.Name == endpoint.Port }) {
			return false
		}
	}
	return len(spec.Endpoints) > 0
}
