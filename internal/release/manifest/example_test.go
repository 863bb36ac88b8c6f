package manifest_test

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
)

func ExampleWaves() {
	objects, err := manifest.Parse(`
apiVersion: apps/v1
kind: Deployment
metadata: {name: photos}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: photos}
`, "team-a")
	if err != nil {
		panic(err)
	}
	installed := func(*unstructured.Unstructured) bool { return false }
	for _, wave := range manifest.Waves(objects, installed) {
		fmt.Println(manifest.Keys(wave))
	}
	// Output:
	// [ConfigMap photos]
	// [Deployment photos]
}
