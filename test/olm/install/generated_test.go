package install

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/references"
)

// TestGeneratedValuesAreRefusedByNameOrInstalled sets one or two values to anything that their types allow, and more.
// Either the chart rejects them and names one of the values, or the API server accepts the objects, or its error names
// the rejected field. Installed objects can start: their images have valid names, their pods meet the Pod Security
// Standard restricted, and an operator limited to some namespaces has no cluster-wide permissions.
func TestGeneratedValuesAreRefusedByNameOrInstalled(t *testing.T) {
	kube, _ := connect(t)
	for _, namespace := range []string{"darkroom-system", "team", "leases"} {
		object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
		must(t, client.IgnoreAlreadyExists(kube.Create(t.Context(), object)))
	}
	for folder, full := range settings {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			chart, schema := loadChart(t, folder)
			base, err := documentsOf(chart, parse(t, full))
			must(t, err)
			known := map[string]bool{}
			for document := range strings.SplitSeq(base, "\n---") {
				known[document] = true
			}
			var paths [][]string
			schema.walk(schema, nil, func(path []string, at *valueSchema) {
				if len(at.Properties) == 0 {
					paths = append(paths, path)
				}
			})
			installed := 0
			rapid.Check(t, func(t *rapid.T) {
				values := map[string]any{}
				if err := yaml.Unmarshal([]byte(full), &values); err != nil {
					t.Fatal(err)
				}
				var names []string
				for range rapid.IntRange(1, 2).Draw(t, "values") {
					path := rapid.SampledFrom(paths).Draw(t, "path")
					at, name := place(values, path)
					at[name] = draw(t, schema, schema.at(schema, path), path)
					names = append(names, name)
				}
				documents, err := documentsOf(chart, values)
				if err != nil {
					named := slices.ContainsFunc(append(names, keys...),
						func(name string) bool { return strings.Contains(err.Error(), name) })
					if strings.Contains(err.Error(), "executing") || !named {
						t.Fatalf("refused without the name of %q: %v", names, err)
					}
					return
				}
				for document := range strings.SplitSeq(documents, "\n---") {
					if !known[document] {
						installs(t, kube, document, fmt.Sprint(values))
					}
				}
				installed++
			})
			if installed == 0 {
				t.Error("all values are refused")
			}
		})
	}
}

// installs checks one document of a chart. The API server may reject a text in the values.
func installs(t *rapid.T, kube client.Client, document, values string) {
	object := &unstructured.Unstructured{}
	if err := yaml.UnmarshalStrict([]byte(document), &object.Object); err != nil {
		t.Fatalf("%v:\n%s", err, document)
	}
	if len(object.Object) == 0 {
		return
	}
	desired := client.ApplyConfigurationFromUnstructured(object.DeepCopy())
	err := kube.Apply(t.Context(), desired, client.FieldOwner("administrator"), client.ForceOwnership, client.DryRunAll)
	switch {
	case apierrors.IsInvalid(err), apierrors.IsNotFound(err) && strings.Contains(err.Error(), "namespaces"):
		return // the error names the field
	case err != nil && strings.Contains(err.Error(), "cannot unmarshal number"):
		return // the error contains the number, which is too large
	case err != nil:
		t.Errorf("%s: %v", object.GetKind(), err)
	}
	switch object.GetKind() {
	case "ClusterRoleBinding":
		role, _, _ := unstructured.NestedString(object.Object, "roleRef", "name")
		isReview := strings.Contains(role, "auth-role") || strings.Contains(role, "impersonation-role")
		if !isReview && !strings.Contains(values, "namespaced:false") {
			t.Errorf("%s is bound in all namespaces", role)
		}
	case "Deployment":
		starts(t, object, values)
	}
}

// starts checks the pods of a Deployment.
func starts(t *rapid.T, object *unstructured.Unstructured, values string) {
	deployment := &appsv1.Deployment{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, deployment); err != nil {
		t.Fatal(err)
	}
	pod := deployment.Spec.Template
	for _, container := range append(pod.Spec.InitContainers, pod.Spec.Containers...) {
		images := []string{container.Image}
		for _, variable := range container.Env {
			if strings.HasPrefix(variable.Name, "RELATED_IMAGE_") {
				images = append(images, variable.Value)
			}
		}
		for _, image := range images {
			if err := references.Check(image); err != nil {
				t.Errorf("container %s: image %q: %v", container.Name, image, err)
			}
		}
	}
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	restricted := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	for _, result := range evaluator.EvaluatePod(restricted, &pod.ObjectMeta, &pod.Spec) {
		if !result.Allowed {
			t.Errorf("%s: %s: %s, with %s", object.GetName(), result.ForbiddenReason, result.ForbiddenDetail, values)
		}
	}
}
