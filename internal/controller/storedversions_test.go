package controller

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// releasedVersions are those that a release has ever stored. Clusters have objects
// of them, so none may leave the definition before these were rewritten.
var releasedVersions = []string{"v1alpha1"}

func TestTheDefinitionServesAllVersionsThatWereEverStored(t *testing.T) {
	definition := apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(readFile(t, "config", "crd", "bases", "deployments.example.com_darkrooms.yaml"), &definition); err != nil {
		t.Fatal(err)
	}
	served, stored := map[string]bool{}, 0
	for _, version := range definition.Spec.Versions {
		served[version.Name] = version.Served
		if version.Storage {
			stored++
		}
	}
	if stored != 1 {
		t.Errorf("%d versions are stored, and must be one", stored)
	}
	for _, version := range releasedVersions {
		if !served[version] {
			t.Errorf("%s is not served: objects that are stored in it could be neither read nor deleted", version)
		}
	}
	if len(served) > 1 && (definition.Spec.Conversion == nil || definition.Spec.Conversion.Strategy == "") {
		t.Error("there are several versions, and it is not said how one becomes another")
	}
}
