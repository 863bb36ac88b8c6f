package install

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// overlays are config/default, all folders of config/overlays, and all other parts combined.
func overlays(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(repository, "config", "overlays"))
	if err != nil {
		t.Fatal(err)
	}
	all := []string{"default", "base+apiserver+apiserver/exposed+apiserver/monitor+prometheus+grafana+network-policy+admission"}
	for _, entry := range entries {
		all = append(all, filepath.Join("overlays", entry.Name()))
	}
	return all
}

func TestEveryOverlayIsAcceptedByAnAPIServer(t *testing.T) {
	kube, said := connect(t)
	for _, overlay := range overlays(t) {
		t.Run(overlay, func(t *testing.T) {
			for _, object := range kustomizeBuild(t, overlay) {
				if err := apply(t.Context(), kube, object); err != nil {
					t.Error(err)
				}
			}
		})
	}
	if warned := said.all(); len(warned) > 0 {
		t.Errorf("the API server warns: %q", warned)
	}
}

func TestOverlaysNameOnlyWhatTheyHave(t *testing.T) {
	for _, overlay := range overlays(t) {
		t.Run(overlay, func(t *testing.T) {
			objects := kustomizeBuild(t, overlay)
			has := func(kind, name string) bool {
				return slices.ContainsFunc(objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == kind && o.GetName() == name })
			}
			for _, object := range objects {
				if object.GetNamespace() != "" && object.GetNamespace() != "darkroom-system" {
					t.Errorf("%s %s is in namespace %s", object.GetKind(), object.GetName(), object.GetNamespace())
				}
				if !strings.HasSuffix(object.GetKind(), "Binding") || object.GetKind() == "ValidatingAdmissionPolicyBinding" {
					continue
				}
				binding := convert[rbacv1.RoleBinding](t, object)
				if !has(binding.RoleRef.Kind, binding.RoleRef.Name) {
					t.Errorf("%s %s binds a %s %s that is not there", object.GetKind(), object.GetName(), binding.RoleRef.Kind, binding.RoleRef.Name)
				}
				for _, subject := range binding.Subjects {
					if !has(subject.Kind, subject.Name) || subject.Namespace != "darkroom-system" {
						t.Errorf("%s %s binds to a %s %s/%s that is not there", object.GetKind(), object.GetName(), subject.Kind, subject.Namespace, subject.Name)
					}
				}
			}
		})
	}
}

func TestTheNamespacedOperatorHasNoRightsElsewhere(t *testing.T) {
	bound := map[string]bool{}
	roles := map[string]rbacv1.ClusterRole{}
	for _, object := range kustomizeBuild(t, "overlays/namespaced") {
		switch object.GetKind() {
		case "ClusterRoleBinding":
			bound[convert[rbacv1.ClusterRoleBinding](t, object).RoleRef.Name] = true
		case "ClusterRole":
			roles[object.GetName()] = convert[rbacv1.ClusterRole](t, object)
		}
	}
	if len(bound) == 0 {
		t.Fatal("nothing is bound: who asks who reads the metrics?")
	}
	for name := range bound {
		for _, rule := range roles[name].Rules {
			if !slices.Equal(rule.Resources, []string{"tokenreviews"}) && !slices.Equal(rule.Resources, []string{"subjectaccessreviews"}) {
				t.Errorf("in all namespaces it may %q %q", rule.Verbs, rule.Resources)
			}
		}
	}
}

func TestInlineKeysAreWarnedOf(t *testing.T) {
	kube, _ := connect(t)
	for _, object := range kustomizeBuild(t, "base+admission") {
		if err := apply(t.Context(), kube, object); err != nil {
			t.Fatal(err)
		}
	}
	inline, reference := sample(t, "darkroom-s3-inline.yaml"), sample(t, "darkroom-s3-secretref.yaml")
	// The API server learns of policies and definitions a moment later.
	err := wait.PollUntilContextTimeout(t.Context(), 200*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		kube, said := connect(t)
		err := kube.Create(ctx, inline.DeepCopy(), client.DryRunAll)
		return err == nil && slices.ContainsFunc(said.all(), func(text string) bool {
			return strings.Contains(text, "source.credentialsSecretRef") && !strings.Contains(text, "not-a-real-key")
		}), nil
	})
	if err != nil {
		t.Fatalf("inline keys cause no warning: %v", err)
	}
	kube, said := connect(t)
	if err := kube.Create(t.Context(), reference, client.DryRunAll); err != nil || len(said.all()) > 0 {
		t.Errorf("a reference is answered by %v and the warnings %q", err, said.all())
	}
}

func sample(t *testing.T, name string) *unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, "config", "samples", name))
	if err != nil {
		t.Fatal(err)
	}
	object := decode(t, text)[0]
	object.SetNamespace("default")
	return object
}

func convert[T any](t *testing.T, object *unstructured.Unstructured) T {
	t.Helper()
	var typed T
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &typed); err != nil {
		t.Fatalf("%s %s: %v", object.GetKind(), object.GetName(), err)
	}
	return typed
}
