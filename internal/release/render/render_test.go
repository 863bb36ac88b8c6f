package render_test

import (
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/types"

	charts "github.com/darkroom-operator/darkroom-operator/helm-charts"
	"github.com/darkroom-operator/darkroom-operator/internal/release/render"
)

func darkroomChart(tb testing.TB) *chart.Chart {
	tb.Helper()
	chrt, err := charts.Darkroom()
	if err != nil {
		tb.Fatal(err)
	}
	return chrt
}

func TestChartsThatHelmWouldInstallInAnotherWayAreRefused(t *testing.T) {
	for name, spoil := range map[string]func(*chart.Chart){
		"a subchart": func(c *chart.Chart) { c.AddDependency(&chart.Chart{Metadata: &chart.Metadata{Name: "sub"}}) },
		"a crds folder": func(c *chart.Chart) {
			c.Files = append(c.Files, &chart.File{Name: "crds/x.yaml", Data: []byte("kind: X")})
		},
		"without a name":   func(c *chart.Chart) { c.Metadata.Name = "" },
		"a broken version": func(c *chart.Chart) { c.Metadata.Version = "one" },
	} {
		chrt := darkroomChart(t)
		if err := render.CheckChart(chrt); err != nil {
			t.Fatal(err)
		}
		spoil(chrt)
		if err := render.CheckChart(chrt); err == nil {
			t.Errorf("%s: got no error", name)
		}
	}
}

func TestValuesThatTheSchemaRefusesAndHooksAreNotRendered(t *testing.T) {
	key := types.NamespacedName{Namespace: "photos", Name: "cats"}
	capabilities := render.Capabilities{Version: "v1.36.0"}
	values := map[string]any{"source": map[string]any{"type": "WebFolder", "baseUrl": "https://example.com"}}
	if _, err := render.Render(darkroomChart(t), key, values, capabilities); err != nil {
		t.Fatal(err)
	}
	_, err := render.Render(darkroomChart(t), key, map[string]any{"source": "none"}, capabilities)
	if err == nil || !strings.Contains(err.Error(), "source") {
		t.Errorf("values of another type: got error %v", err)
	}
	hooked := darkroomChart(t)
	hooked.Templates = append(hooked.Templates, &chart.File{
		Name: "templates/hook.yaml",
		Data: []byte("kind: Job\nmetadata: {name: x, annotations: {helm.sh/hook: pre-install}}"),
	})
	if _, err := render.Render(hooked, key, values, capabilities); err == nil || !strings.Contains(err.Error(), "hook") {
		t.Errorf("a hook: got error %v", err)
	}
}
