package render

import (
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/types"

	charts "github.com/darkroom-operator/darkroom-operator/helm-charts"
	"github.com/darkroom-operator/darkroom-operator/internal/release/digest"
)

// The rendering that another process recorded is used while program, chart, capabilities
// and values are the same.
func TestARecordedRenderingIsUsedWhileItsSourceIsTheSame(t *testing.T) {
	key := types.NamespacedName{Namespace: "photos", Name: "cats"}
	chrt := func() *chart.Chart {
		loaded, err := charts.Darkroom()
		if err != nil {
			t.Fatal(err)
		}
		return loaded
	}
	values := func() map[string]any {
		return map[string]any{
			"fullnameOverride": "cats", "hosts": []any{"cats.example.com"},
			"source": map[string]any{"type": "WebFolder", "baseUrl": "https://example.com/images"},
		}
	}
	rendererFor := func(version string) *Renderer {
		capabilities := chartutil.DefaultCapabilities.Copy()
		parsed, err := chartutil.ParseKubeVersion(version)
		if err != nil {
			t.Fatal(err)
		}
		capabilities.KubeVersion = *parsed
		return NewRenderer(capabilities)
	}
	first, memory := rendererFor("v1.36.3"), &Memory{}
	rendered, err := first.Render(chrt(), key, values(), memory)
	if err != nil {
		t.Fatal(err)
	}
	memory.Compact()
	source := memory.Source(digest.Identity(rendered.Manifest))
	if source == nil {
		t.Fatal("the rendering has no source")
	}
	if memory.Source(digest.Identity("another manifest")) != nil {
		t.Error("a manifest that was not rendered has a source")
	}

	const recorded = "sha256:recorded"
	for name, test := range map[string]struct {
		version  string
		chart    func(*chart.Chart)
		values   func(map[string]any)
		believed bool
	}{
		"nothing differs": {believed: true},
		"the values":      {values: func(v map[string]any) { v["logLevel"] = "warn" }},
		"the cluster":     {version: "v1.35.0"},
		"the chart":       {chart: func(c *chart.Chart) { c.Metadata.Version = "9.9.9" }},
		"a template":      {chart: func(c *chart.Chart) { c.Templates[len(c.Templates)-1].Data = []byte("# none") }},
		"a default":       {chart: func(c *chart.Chart) { c.Values["replicaCount"] = 7 }},
	} {
		t.Run(name, func(t *testing.T) {
			version, usedChart, usedValues := "v1.36.3", chrt(), values()
			if test.version != "" {
				version = test.version
			}
			if test.chart != nil {
				test.chart(usedChart)
			}
			if test.values != nil {
				test.values(usedValues)
			}
			next := rendererFor(version)
			memory := &Memory{}
			memory.Recall(source, recorded)
			preview, err := next.Preview(usedChart, key, usedValues, memory)
			if err != nil {
				t.Fatal(err)
			}
			if believed := preview == recorded; believed != test.believed {
				t.Errorf("the record is believed: %t, want %t", believed, test.believed)
			}
			whole, err := next.Render(usedChart, key, usedValues, memory)
			if err != nil {
				t.Fatal(err)
			}
			if len(whole.Config) == 0 || whole.Manifest == recorded {
				t.Error("what is to be stored is not whole")
			}
		})
	}
}
