package values

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/manifests"
)

// eachMetadata visits the metadata of an object, and of every template of objects in it.
func eachMetadata(path string, value any, visit func(path string, metadata map[string]any)) {
	switch value := value.(type) {
	case map[string]any:
		if metadata, found := value["metadata"].(map[string]any); found {
			visit(path, metadata)
		}
		for key, below := range value {
			eachMetadata(path+"."+key, below, visit)
		}
	case []any:
		for i, below := range value {
			eachMetadata(fmt.Sprintf("%s[%d]", path, i), below, visit)
		}
	}
}

// manifestsOf renders the objects of a Darkroom, and the pod of helm test.
func manifestsOf(
	chrt *chart.Chart, darkroom *v1alpha1.Darkroom, options Options,
) ([]*unstructured.Unstructured, error) {
	translator, err := New(options)
	if err != nil {
		return nil, err
	}
	values, err := translator.Values(darkroom)
	if err != nil {
		return nil, err
	}
	rendered, err := tryRender(chrt, darkroom, values)
	if err != nil {
		return nil, err
	}
	return manifests.Decode([]byte(rendered))
}

// Policies of Kyverno or Gatekeeper may reject each object without the label of its cost center, whatever its kind.
func TestEveryObjectAndPodTemplateInheritsFromTheDarkroom(t *testing.T) {
	options := Options{
		InheritLabels:      []string{"bill-to", "example.com/*"},
		InheritAnnotations: []string{"contact", "example.com/*"},
	}
	chrt, err := darkroomChart()
	expect.NoError(t, err)
	for name, darkroom := range everything(t) {
		t.Run(name, func(t *testing.T) {
			darkroom.Labels = map[string]string{"bill-to": "images", "example.com/team": "a", "other": "x"}
			darkroom.Annotations = map[string]string{"contact": "a@example.com", "example.com/note": "b: c", "other": "x"}
			objects, err := manifestsOf(chrt, darkroom, options)
			expect.NoError(t, err)
			visited := 0
			for _, object := range objects {
				eachMetadata(object.GetKind()+" "+object.GetName(), object.Object, func(path string, metadata map[string]any) {
					visited++
					labels, _, _ := unstructured.NestedStringMap(metadata, "labels")
					annotations, _, _ := unstructured.NestedStringMap(metadata, "annotations")
					if labels["bill-to"] != "images" || labels["example.com/team"] != "a" || labels["other"] != "" {
						t.Errorf("%s has the labels %v", path, labels)
					}
					if annotations["contact"] != "a@example.com" || annotations["example.com/note"] != "b: c" ||
						annotations["other"] != "" {
						t.Errorf("%s has the annotations %v", path, annotations)
					}
				})
			}
			if visited <= len(objects) {
				t.Errorf("%d objects have no pod template", len(objects))
			}
		})
	}
}

// A tenant chooses the labels and annotations. None of them may remove an object from the release or
// change its identity.
func TestNothingInheritedReplacesWhatIdentifiesAnObject(t *testing.T) {
	chrt, err := darkroomChart()
	expect.NoError(t, err)
	pruning := []string{"applyset.kubernetes.io/part-of", "argocd.argoproj.io/tracking-id", "kustomize.toolkit.fluxcd.io/name"}
	keys := rapid.SampledFrom(append(pruning,
		"helm.sh/hook", "helm.sh/chart", "meta.helm.sh/release-name", "deployments.example.com/darkroom",
		"deployments.example.com/darkroom-uid",
		"app.kubernetes.io/name", "app.kubernetes.io/instance", "app.kubernetes.io/component", "app.kubernetes.io/managed-by",
		"app.kubernetes.io/version",
		"kubectl.kubernetes.io/last-applied-configuration", "kubernetes.io/ingress.class", "owner", "name",
		"status", "version", "team",
	))
	strange := rapid.MapOf(keys, rapid.SampledFrom([]string{"helm", "test", "deployed", "other", ""}))
	whole := []string{"a*", "d*", "h*", "k*", "m*", "n*", "o*", "s*", "t*", "v*"}
	darkroom := photos().S3("pictures", "eu-west-2").InlineKeys("a", "s").Obj()
	plain, err := manifestsOf(chrt, darkroom, Options{})
	expect.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		darkroom := darkroom.DeepCopy()
		darkroom.Labels, darkroom.Annotations = strange.Draw(t, "labels"), strange.Draw(t, "annotations")
		inheriting, err := manifestsOf(chrt, darkroom, Options{InheritLabels: whole, InheritAnnotations: whole})
		if err != nil {
			t.Fatal(err)
		}
		if len(plain) != len(inheriting) {
			t.Fatalf("%d objects, %d without inheritance", len(inheriting), len(plain))
		}
		for i, object := range plain {
			for key, value := range object.GetLabels() {
				if got := inheriting[i].GetLabels()[key]; got != value {
					t.Errorf("%s %s: the label %s is %q, not %q", object.GetKind(), object.GetName(), key, got, value)
				}
			}
			for _, key := range pruning {
				if inheriting[i].GetLabels()[key]+inheriting[i].GetAnnotations()[key] != "" {
					t.Errorf("%s %s has %s, so a tool would delete it", object.GetKind(), object.GetName(), key)
				}
			}
			labels, annotations := inheriting[i].GetLabels(), inheriting[i].GetAnnotations()
			if labels["owner"] == "helm" || annotations["helm.sh/hook"] != object.GetAnnotations()["helm.sh/hook"] ||
				annotations["kubernetes.io/ingress.class"] != "" ||
				annotations["kubectl.kubernetes.io/last-applied-configuration"] != "" {
				t.Errorf("%s %s has the labels %v and annotations %v", object.GetKind(), object.GetName(), labels, annotations)
			}
		}
	})
}

func TestTheListOfWhatIsInheritedIsChecked(t *testing.T) {
	for entry, part := range map[string]string{
		"*": "name the keys", "helm.sh/chart": "cannot be inherited", "deployments.example.com/*": "cannot be inherited",
		"kubectl.kubernetes.io/restartedAt": "cannot be inherited", "applyset.kubernetes.io/*": "cannot be inherited",
		"app.kubernetes.io/*": "cannot be inherited", "app.kubernetes.io/instance": "cannot be inherited",
		"argocd.argoproj.io/tracking-id": "cannot be inherited", "kustomize.toolkit.fluxcd.io/*": "cannot be inherited",
		"helm.toolkit.fluxcd.io/name": "cannot be inherited", "a b": "must be a key", "a*b": "must be a key",
	} {
		for _, options := range []Options{{InheritLabels: []string{entry}}, {InheritAnnotations: []string{entry}}} {
			_, err := New(options)
			if err == nil || !strings.Contains(err.Error(), part) || !strings.Contains(err.Error(), entry) {
				t.Errorf("%q: got error %v, want one with %q", entry, err, part)
			}
		}
	}
}

func TestThePodTemplateTakesPrecedenceOverWhatIsInherited(t *testing.T) {
	darkroom := photos().PodTemplate(v1alpha1.PodTemplate{
		Labels:      map[string]string{"team": "pods"},
		Annotations: map[string]string{"note": "pods"},
	}).Obj()
	darkroom.Labels, darkroom.Annotations = map[string]string{"team": "all"}, map[string]string{"note": "all"}
	template := deploymentIn(t,
		render(t, darkroom, Options{InheritLabels: []string{"team"}, InheritAnnotations: []string{"note"}})).Spec.Template
	if template.Labels["team"] != "pods" || template.Annotations["note"] != "pods" {
		t.Errorf("pods have the labels %v and the annotations %v", template.Labels, template.Annotations)
	}
}

// The annotations of an object take precedence over inherited ones, even if their value is empty.
func TestAnnotationsOfAnObjectTakePrecedence(t *testing.T) {
	const key = "cert-manager.io/issuer"
	chrt, err := darkroomChart()
	expect.NoError(t, err)
	for _, own := range []string{"", "own"} {
		for _, inherited := range []string{"", "inherited"} {
			annotations := map[string]string{key: own}
			darkroom := photos().PodTemplate(v1alpha1.PodTemplate{
				Annotations:               annotations,
				ServiceAccountAnnotations: annotations,
			}).Spec(func(spec *v1alpha1.DarkroomSpec) {
				spec.Ingress = &v1alpha1.Ingress{Annotations: annotations}
				spec.Gateway = &v1alpha1.Gateway{ParentRefs: []v1alpha1.ParentRef{{Name: "public"}}, Annotations: annotations}
				spec.Service = &v1alpha1.Service{Annotations: annotations}
			}).Obj()
			darkroom.Annotations = map[string]string{key: inherited}
			objects, err := manifestsOf(chrt, darkroom, Options{InheritAnnotations: []string{key}})
			expect.NoError(t, err)
			for _, object := range objects {
				eachMetadata(object.GetKind()+" "+object.GetName(), object.Object, func(path string, metadata map[string]any) {
					found, _, _ := unstructured.NestedStringMap(metadata, "annotations")
					want := own
					if hasNoneOfItsOwn := found["helm.sh/hook"] != "" ||
						!slices.Contains([]string{"Ingress", "HTTPRoute", "Service", "ServiceAccount", "Deployment"}, object.GetKind()) ||
						path == "Deployment photos" || strings.Contains(path, "blocked"); hasNoneOfItsOwn {
						want = inherited
					}
					if got, isSet := found[key]; !isSet || got != want {
						t.Errorf("own %q, inherited %q: %s has %q", own, inherited, path, got)
					}
				})
			}
		}
	}
}
