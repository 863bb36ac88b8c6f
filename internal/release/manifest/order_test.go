package manifest

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

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
			t.Errorf("Ingress exists: %t: got waves %s, want %s", exists, got, want)
		}
	}
}
