package manifest

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const service = "apiVersion: v1\nkind: Service\nmetadata:\n  name: photos\n"

func TestObjectsGetTheNamespaceOfTheRelease(t *testing.T) {
	objects, err := Parse("---\n# Source: a.yaml\n"+service+
		"---\n\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: photos\n  namespace: shop\n", "shop")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(Keys(objects)), "[Service photos Deployment photos]"; got != want {
		t.Errorf("the objects are %s, want %s", got, want)
	}
	for _, object := range objects {
		if object.GetNamespace() != "shop" {
			t.Errorf("%s is in namespace %q", KeyOf(object), object.GetNamespace())
		}
	}
}

func TestManifestsThatCannotBeInstalledAreRefused(t *testing.T) {
	for name, test := range map[string]struct{ manifest, want string }{
		"another namespace": {
			strings.Replace(service, "photos", "photos\n  namespace: other", 1),
			"outside the release's namespace",
		},
		"one object twice": {service + "---\n" + service, "Service photos is defined twice"},
		"one object in two API versions": {strings.ReplaceAll(service, "v1", "x/v1") + "---\n" +
			strings.ReplaceAll(service, "v1", "x/v2"), "defined twice"},
		"broken YAML": {"a: [", "parse manifest"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Parse(test.manifest, "shop"); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want %q", err, test.want)
			}
		})
	}
}

func TestDependentObjectsAreAppliedLast(t *testing.T) {
	const referring = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: photos\n---\n" +
		"apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata:\n  name: photos\n---\n" +
		"apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata:\n  name: photos\n---\n"
	objects, err := Parse(referring+service, "shop")
	if err != nil {
		t.Fatal(err)
	}
	for exists, want := range map[bool]string{
		true:  "[Service photos] [Deployment photos Ingress photos HTTPRoute photos]",
		false: "[Ingress photos Service photos] [Deployment photos HTTPRoute photos]",
	} {
		waves := Waves(objects, func(*unstructured.Unstructured) bool { return exists })
		if got := fmt.Sprint(Keys(waves[0]), Keys(waves[1])); got != want {
			t.Errorf("if the Ingress exists: %t, the waves are %s, want %s", exists, got, want)
		}
	}
}
