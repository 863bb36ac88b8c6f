package install

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// overlays are config/default, monitoring, all folders of config/overlays, and all other parts
// combined.
func overlays(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(repository, "config", "overlays"))
	must(t, err)
	all := []string{
		"default", "monitoring",
		"base+guard+apiserver+apiserver/exposed+apiserver/monitor+prometheus+grafana+network-policy+admission+admission/policies+" +
			"components/certmanager+components/oidc-impersonation+components/probe-via-apiserver+components/namespaced",
	}
	for _, entry := range entries {
		all = append(all, filepath.Join("overlays", entry.Name()))
	}
	return all
}

func TestEveryOverlayIsAcceptedAndNamesOnlyWhatItHas(t *testing.T) {
	for _, overlay := range overlays(t) {
		t.Run(overlay, func(t *testing.T) {
			kube, warnings := connect(t)
			objects := kustomizeBuild(t, overlay)
			for _, object := range objects {
				if object.GetNamespace() != "" && object.GetNamespace() != "darkroom-system" {
					t.Errorf("%s %s is in namespace %s", object.GetKind(), object.GetName(), object.GetNamespace())
				}
				if strings.HasSuffix(object.GetKind(), "RoleBinding") {
					bindsOnly(t, object, objects)
				}
				if overlay == "monitoring" {
					object.SetNamespace("default") // users create it
				}
				apply(t, kube, object)
				if strings.HasPrefix(object.GetKind(), "ValidatingAdmissionPolicy") {
					deleteLater(t, kube, object) // other tests have their own policies
				}
			}
			if warnings.Len() > 0 {
				t.Errorf("the API server warns: %s", warnings)
			}
		})
	}
}

// bindsOnly checks that a binding references existing roles and ServiceAccounts.
func bindsOnly(t *testing.T, object *unstructured.Unstructured, objects []*unstructured.Unstructured) {
	t.Helper()
	has := func(kind, name string) bool {
		return slices.ContainsFunc(objects,
			func(o *unstructured.Unstructured) bool { return o.GetKind() == kind && o.GetName() == name })
	}
	binding := convert[rbacv1.RoleBinding](t, object)
	if !has(binding.RoleRef.Kind, binding.RoleRef.Name) {
		t.Errorf("%s %s binds a %s %s that does not exist", object.GetKind(), object.GetName(),
			binding.RoleRef.Kind, binding.RoleRef.Name)
	}
	for _, subject := range binding.Subjects {
		if !has(subject.Kind, subject.Name) || subject.Namespace != "darkroom-system" {
			t.Errorf("%s %s binds to a %s %s/%s that does not exist", object.GetKind(), object.GetName(), subject.Kind,
				subject.Namespace, subject.Name)
		}
	}
}

func TestTheNamespacedOperatorHasNoRightsElsewhere(t *testing.T) {
	var bound []string
	roles := map[string]rbacv1.ClusterRole{}
	for _, object := range kustomizeBuild(t, "overlays/namespaced") {
		switch object.GetKind() {
		case "ClusterRoleBinding":
			bound = append(bound, convert[rbacv1.ClusterRoleBinding](t, object).RoleRef.Name)
		case "ClusterRole":
			roles[object.GetName()] = convert[rbacv1.ClusterRole](t, object)
		}
	}
	if len(bound) == 0 {
		t.Fatal("nothing is bound: who may check the readers of metrics?")
	}
	for _, name := range bound {
		for _, rule := range roles[name].Rules {
			if !slices.Equal(rule.Resources, []string{"tokenreviews"}) &&
				!slices.Equal(rule.Resources, []string{"subjectaccessreviews"}) {
				t.Errorf("it may %q %q in all namespaces", rule.Verbs, rule.Resources)
			}
		}
	}
}

// The namespace of an operator that OLM installs is known only when monitoring is applied.
func TestEveryServiceOfTheBundleIsMonitoredInItsNamespace(t *testing.T) {
	monitors := kustomizeBuild(t, "monitoring")
	files, err := filepath.Glob(filepath.Join(repository, "bundle", "manifests", "*_service.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("the bundle has %d Services (%v)", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		service := convert[corev1.Service](t, decode(t, text)[0])
		if !slices.ContainsFunc(monitors, func(o *unstructured.Unstructured) bool {
			return o.GetKind() == "ServiceMonitor" && o.GetNamespace() == "" && scrapes(t, o, &service)
		}) {
			t.Errorf("no ServiceMonitor scrapes %s", service.Name)
		}
	}
}

// scrapes reports whether a ServiceMonitor selects a Service, and all of its endpoints are ports of the Service.
func scrapes(t *testing.T, object *unstructured.Unstructured, service *corev1.Service) bool {
	t.Helper()
	monitor := convert[struct {
		Spec struct {
			Selector  metav1.LabelSelector `json:"selector"`
			Endpoints []struct {
				Port string `json:"port"`
			} `json:"endpoints"`
		} `json:"spec"`
	}](t, object).Spec
	for _, endpoint := range monitor.Endpoints {
		if !slices.ContainsFunc(service.Spec.Ports,
			func(port corev1.ServicePort) bool { return port.Name == endpoint.Port }) {
			return false
		}
	}
	selector, err := metav1.LabelSelectorAsSelector(&monitor.Selector)
	return err == nil && len(monitor.Endpoints) > 0 && selector.Matches(labels.Set(service.Labels))
}

func convert[T any](t *testing.T, object *unstructured.Unstructured) T {
	t.Helper()
	var typed T
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &typed); err != nil {
		t.Fatalf("%s %s: %v", object.GetKind(), object.GetName(), err)
	}
	return typed
}
