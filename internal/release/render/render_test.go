package render_test

import (
	"strings"
	"testing"

	charts "github.com/darkroom-operator/darkroom-operator/helm-charts"
	"github.com/darkroom-operator/darkroom-operator/internal/release/render"
)

// What a rendering follows from is chart and values, in one process: a change of either
// must show, though nothing else asked for a new rendering.
func TestARenderingIsRepeatedWhenItsSourceChanges(t *testing.T) {
	chrt, err := charts.Darkroom()
	if err != nil {
		t.Fatal(err)
	}
	renderer, memory := render.NewRenderer(kubernetes("v1.36.3")), &render.Memory{}
	values := benchValues()
	manifest := func() string {
		t.Helper()
		rendered, err := renderer.Render(chrt, benchKey, values, memory)
		if err != nil {
			t.Fatal(err)
		}
		return rendered.Manifest
	}
	before := manifest()

	t.Run("values", func(t *testing.T) {
		values["logLevel"] = "warn"
		if !strings.Contains(manifest(), `LOG_LEVEL: "warn"`) {
			t.Error("it is the old one")
		}
		delete(values, "logLevel")
	})
	t.Run("chart", func(t *testing.T) {
		upgraded := *chrt
		metadata := *chrt.Metadata
		metadata.Version = "9.9.9"
		upgraded.Metadata = &metadata
		rendered, err := renderer.Render(&upgraded, benchKey, values, memory)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(rendered.Manifest, "darkroom-9.9.9") {
			t.Error("it is the old one")
		}
	})
	t.Run("nothing", func(t *testing.T) {
		if manifest() != before {
			t.Error("it differs")
		}
	})
}

// A deployed release is kept without what is only needed to store it, and must still
// be complete when it has to be stored again.
func TestACompactedRenderingIsRestored(t *testing.T) {
	renderer, chrt := rendererOf(t)
	memory := &render.Memory{}
	first, err := renderer.Render(chrt, benchKey, benchValues(), memory)
	if err != nil {
		t.Fatal(err)
	}
	if len(first.Config) == 0 || len(first.Hooks) == 0 {
		t.Fatalf("values %v, %d hooks: this test would pass for any release", first.Config, len(first.Hooks))
	}
	whole, err := renderer.Preview(chrt, benchKey, benchValues(), memory)
	if err != nil {
		t.Fatal(err)
	}
	memory.Compact()
	compact, err := renderer.Preview(chrt, benchKey, benchValues(), memory)
	if err != nil {
		t.Fatal(err)
	}
	if compact != whole {
		t.Errorf("the preview is %q, want %q", compact, whole)
	}
	again, err := renderer.Render(chrt, benchKey, benchValues(), memory)
	if err != nil {
		t.Fatal(err)
	}
	if len(again.Config) != len(first.Config) || len(again.Hooks) != len(first.Hooks) {
		t.Errorf("values %v, %d hooks, want those of the first", again.Config, len(again.Hooks))
	}
}
