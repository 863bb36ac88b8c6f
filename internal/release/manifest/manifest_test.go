package manifest

import (
	"fmt"
	"strings"
	"testing"
)

const service = "apiVersion: v1\nkind: Service\nmetadata:\n  name: photos\n"

func TestObjectsGetTheNamespaceOfTheRelease(t *testing.T) {
	objects, err := Parse("---\n# Source: a.yaml\n"+service+
		"---\n\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: photos\n  namespace: shop\n", "shop")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(Keys(objects)), "[Service photos Deployment photos]"; got != want {
		t.Errorf("got objects %s, want %s", got, want)
	}
	for _, object := range objects {
		if object.GetNamespace() != "shop" {
			t.Errorf("got %s in namespace %q, want shop", KeyOf(object), object.GetNamespace())
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
				t.Errorf("got error %v, want %q", err, test.want)
			}
		})
	}
}
