package render_test

import (
	"testing"

	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/types"

	charts "github.com/darkroom-operator/darkroom-operator/helm-charts"
	"github.com/darkroom-operator/darkroom-operator/internal/release/render"
)

var benchKey = types.NamespacedName{Namespace: "photos", Name: "cats"}

// previewAllocations is what a preview of what is known may allocate: the digest of
// the values and a copy.
const previewAllocations = 30

func TestCachedPreviewsAllocateLittle(t *testing.T) {
	renderer, memory := rendererOf(t), &render.Memory{}
	if _, err := renderer.Preview(benchKey, benchValues(), memory); err != nil {
		t.Fatal(err)
	}
	values := benchValues()
	got := testing.AllocsPerRun(200, func() {
		if _, err := renderer.Preview(benchKey, values, memory); err != nil {
			t.Fatal(err)
		}
	})
	if got > previewAllocations {
		t.Errorf("%.0f allocations, at most %d were meant", got, previewAllocations)
	}
}

func BenchmarkCachedPreview(b *testing.B) {
	renderer, memory := rendererOf(b), &render.Memory{}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := renderer.Preview(benchKey, benchValues(), memory); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRender(b *testing.B) {
	renderer := rendererOf(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := renderer.Render(benchKey, benchValues(), &render.Memory{}); err != nil {
			b.Fatal(err)
		}
	}
}

func rendererOf(tb testing.TB) *render.Renderer {
	tb.Helper()
	chrt, err := charts.Darkroom()
	if err != nil {
		tb.Fatal(err)
	}
	renderer, err := render.NewRenderer(chrt, kubernetes("v1.36.3"))
	if err != nil {
		tb.Fatal(err)
	}
	return renderer
}

// kubernetes are the capabilities of a cluster of some version.
func kubernetes(version string) *chartutil.Capabilities {
	capabilities := chartutil.DefaultCapabilities.Copy()
	parsed, err := chartutil.ParseKubeVersion(version)
	if err != nil {
		panic(err)
	}
	capabilities.KubeVersion = *parsed
	return capabilities
}

func benchValues() map[string]any {
	return map[string]any{
		"fullnameOverride": "cats",
		"hosts":            []any{"cats.darkroom.example.com"},
		"source":           map[string]any{"type": "WebFolder", "baseUrl": "https://example.com/images"},
	}
}
