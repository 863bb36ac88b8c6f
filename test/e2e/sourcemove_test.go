//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// Images move from a bucket to a folder as described in docs/operations.md, and clients must not lose a request. At first
// the folder contains none of the images, and then all.
func TestImagesMoveToAnotherSource(t *testing.T) {
	t.Parallel()
	darkroom := newGated(t, "moving", theSources.folderURL, v1alpha1.Gate{})
	change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.Source = theSources.s3() })
	waitSettled(t, darkroom)
	load := startLoad(hostOf(darkroom))
	load.during(t, "the bucket becomes a fallback", func() {
		change(t, darkroom, func(d *v1alpha1.Darkroom) {
			d.Spec.Source = theSources.webFolder()
			d.Spec.Source.BaseURL += "/empty"
			d.Spec.AdditionalSources = []v1alpha1.AdditionalSource{{Name: "former", Fallback: true, Source: theSources.s3()}}
		})
		waitSettled(t, darkroom)
		waitServing(t, darkroom)
	})
	const counted = `darkroom_gate_fallback_originals_total{source="former"} `
	metrics := gateMetrics(t, darkroom)
	if !strings.Contains(metrics, counted) || strings.Contains(metrics, counted+"0\n") {
		t.Errorf("the metrics do not show that the fallback served:\n%s", metrics)
	}
	load.during(t, "the folder has the images", func() {
		change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.Source = theSources.webFolder() })
		waitSettled(t, darkroom)
		waitServing(t, darkroom)
	})
	if metrics := gateMetrics(t, darkroom); !strings.Contains(metrics, counted+"0\n") {
		t.Errorf("the fallback still receives requests:\n%s", metrics)
	}
	load.during(t, "the bucket is retired", func() {
		change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.AdditionalSources = nil })
		waitSettled(t, darkroom)
		waitServing(t, darkroom)
	})
	load.end(t)
}
