package controller

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

func TestChangesOfTheDesiredStateAreReconciledAtOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*v1alpha1.Darkroom)
		want   bool
	}{
		"spec":               {func(d *v1alpha1.Darkroom) { d.Generation++ }, true},
		"a requested retry":  {func(d *v1alpha1.Darkroom) { d.Annotations = map[string]string{v1alpha1.AnnotationRequestedAt: "now"} }, true},
		"the end of a pause": {func(d *v1alpha1.Darkroom) { d.Annotations = nil }, true},
		"a label":            {func(d *v1alpha1.Darkroom) { d.Labels = map[string]string{"team": "cats"} }, true},
		"status":             {func(d *v1alpha1.Darkroom) { d.Status.Phase = v1alpha1.PhaseReady }, false},
		"managed fields":     {func(d *v1alpha1.Darkroom) { d.ResourceVersion = "2" }, false},
	} {
		before := &v1alpha1.Darkroom{}
		before.Annotations = map[string]string{v1alpha1.AnnotationPaused: "true", v1alpha1.AnnotationRequestedAt: "before"}
		after := before.DeepCopy()
		c.change(after)
		if got := desiredChanged().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}); got != c.want {
			t.Errorf("%s is reconciled: %t, want %t", name, got, c.want)
		}
	}
}
