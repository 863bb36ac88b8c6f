package render_test

import (
	"strings"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/internal/release/render"
)

func TestARenderingIsRepeatedWhenItsValuesChange(t *testing.T) {
	renderer, memory := rendererOf(t), &render.Memory{}
	values := benchValues()
	manifest := func() string {
		t.Helper()
		rendered, err := renderer.Render(benchKey, values, memory)
		if err != nil {
			t.Fatal(err)
		}
		return rendered.Manifest
	}
	before := manifest()

	values["logLevel"] = "warn"
	if !strings.Contains(manifest(), `LOG_LEVEL: "warn"`) {
		t.Error("it is the old one")
	}
	delete(values, "logLevel")
	if manifest() != before {
		t.Error("it is not the first one again")
	}
}

// A deployed release is kept without what is only needed to store it, and must still
// be complete when it has to be stored again.
func TestACompactedRenderingIsRestored(t *testing.T) {
	renderer, memory := rendererOf(t), &render.Memory{}
	first, err := renderer.Render(benchKey, benchValues(), memory)
	if err != nil {
		t.Fatal(err)
	}
	if len(first.Config) == 0 || len(first.Hooks) == 0 {
		t.Fatalf("values %v, %d hooks: this test would pass for any release", first.Config, len(first.Hooks))
	}
	whole, err := renderer.Preview(benchKey, benchValues(), memory)
	if err != nil {
		t.Fatal(err)
	}
	memory.Compact()
	compact, err := renderer.Preview(benchKey, benchValues(), memory)
	if err != nil {
		t.Fatal(err)
	}
	if compact != whole {
		t.Errorf("the preview is %q, want %q", compact, whole)
	}
	again, err := renderer.Render(benchKey, benchValues(), memory)
	if err != nil {
		t.Fatal(err)
	}
	if len(again.Config) != len(first.Config) || len(again.Hooks) != len(first.Hooks) {
		t.Errorf("values %v, %d hooks, want those of the first", again.Config, len(again.Hooks))
	}
}
