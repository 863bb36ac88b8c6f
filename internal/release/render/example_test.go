package render_test

import (
	"fmt"

	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/types"

	charts "github.com/darkroom-operator/darkroom-operator/helm-charts"
	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
	"github.com/darkroom-operator/darkroom-operator/internal/release/render"
)

// The chart of a Darkroom is rendered without a cluster.
func ExampleRender() {
	chart, err := charts.Darkroom()
	if err != nil {
		panic(err)
	}
	values := map[string]any{
		"fullnameOverride": "photos",
		"source":           map[string]any{"type": "WebFolder", "baseUrl": "https://example.com/images"},
		"hosts":            []any{"cats.img.example.com"},
	}
	capabilities := chartutil.DefaultCapabilities.Copy()
	capabilities.KubeVersion = chartutil.KubeVersion{Version: "v1.36.0", Major: "1", Minor: "36"}
	release, err := render.Render(chart, types.NamespacedName{Namespace: "team-a", Name: "photos"}, values, capabilities)
	if err != nil {
		panic(err)
	}
	objects, err := manifest.Parse(release.Manifest, release.Namespace)
	if err != nil {
		panic(err)
	}
	for _, object := range objects {
		fmt.Println(object.GetKind())
	}
	// Output:
	// ServiceAccount
	// ConfigMap
	// Service
	// Service
	// Deployment
	// Ingress
}
