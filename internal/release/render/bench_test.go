package render_test

import (
	"testing"

	"helm.sh/helm/v3/pkg/chart"
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
	renderer, chrt := rendererOf(t)
	memory := &render.Memory{}
	if _, err := renderer.Preview(chrt, benchKey, benchValues(), memory); err != nil {
		t.Fatal(err)
	}
	values := benchValues()
	got := testing.AllocsPerRun(200, func() {
		if _, err := renderer.Preview(chrt, benchKey, values, memory); err != nil {
			t.Fatal(err)
		}
	})
	if got > previewAllocations {
		t.Errorf("%.0f allocations, at most %d were meant", got, previewAllocations)
	}
}

func BenchmarkCachedPreview(b *testing.B) {
	renderer, chrt := rendererOf(b)
	memory := &render.Memory{}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := renderer.Preview(chrt, benchKey, benchValues(), memory); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRender(b *testing.B) {
	renderer, chrt := rendererOf(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := renderer.Render(chrt, benchKey, benchValues(), &render.Memory{}); err != nil {
			b.Fatal(err)
		}
	}
}

func rendererOf(tb testing.TB) (*render.Renderer, *chart.Chart) {
	tb.Helper()
	chrt, err := charts.Darkroom()
	if err != nil {
		tb.Fatal(err)
	}
	capabilities := kubernetes("v1.36.3")
	return render.NewRenderer(capabilities), chrt
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
