package manifests_test

import (
	"testing"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/manifests"
)

func TestDocumentsWithoutAnObjectArePassedOver(t *testing.T) {
	objects, err := manifests.Decode([]byte("---\n# nothing\n---\nkind: Service\n---\n{}\n---\nkind: Ingress\n"))
	if err != nil {
		t.Fatal(err)
	}
	if len(objects) != 2 || objects[0].GetKind() != "Service" || objects[1].GetKind() != "Ingress" {
		t.Errorf("the objects are %v, want a Service and an Ingress", objects)
	}
}

func TestInvalidManifestsAreRefused(t *testing.T) {
	if objects, err := manifests.Decode([]byte("kind: [Service")); err == nil {
		t.Errorf("the objects are %v, want an error", objects)
	}
}
