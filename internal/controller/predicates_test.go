package controller

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

// claimedBy returns a Darkroom with an annotation and with the claim of an installation; an empty installation means
// unclaimed.
func claimedBy(installation string, changes ...func(*v1alpha1.Darkroom)) *v1alpha1.Darkroom {
	darkroom := darkrooms.New("photos", "team-a").UID("0c5f").Obj()
	darkroom.Annotations = map[string]string{"team": "a"}
	if installation != "" {
		darkroom.Annotations[v1alpha1.AnnotationInstallation] = installation
	}
	for _, change := range changes {
		change(darkroom)
	}
	return darkroom
}

func TestOnlyTheInstallationsOwnClaimIsIgnored(t *testing.T) {
	for name, test := range map[string]struct {
		before, after *v1alpha1.Darkroom
		want          bool
	}{
		"its own claim": {claimedBy(""), claimedBy("local"), false},
		"with the first finalizer": {
			claimedBy(""),
			claimedBy("local", func(d *v1alpha1.Darkroom) { d.Finalizers = []string{finalizer} }), false,
		},
		"another installation's claim": {claimedBy(""), claimedBy("elsewhere"), true},
		"taken over":                   {claimedBy("elsewhere"), claimedBy("local"), true},
		"given away":                   {claimedBy("local"), claimedBy("elsewhere"), true},
		"taken away":                   {claimedBy("local"), claimedBy(""), true},
		"with a changed spec":          {claimedBy(""), claimedBy("local", func(d *v1alpha1.Darkroom) { d.Generation = 2 }), true},
		"with another annotation": {claimedBy(""), claimedBy("local", func(d *v1alpha1.Darkroom) {
			d.Annotations[v1alpha1.AnnotationPaused] = "true"
		}), true},
		"with a label": {
			claimedBy(""),
			claimedBy("local", func(d *v1alpha1.Darkroom) { d.Labels = map[string]string{"shard": "1"} }), true,
		},
		"of a recreated one": {claimedBy(""), claimedBy("local", func(d *v1alpha1.Darkroom) { d.UID = "another" }), true},
		"without annotations before": {
			claimedBy("", func(d *v1alpha1.Darkroom) { d.Annotations = nil }),
			claimedBy("local", func(d *v1alpha1.Darkroom) {
				delete(d.Annotations, "team")
			}), false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			passes := notOwnClaim(&installation{name: "local"})
			if got := passes.Update(event.UpdateEvent{ObjectOld: test.before, ObjectNew: test.after}); got != test.want {
				t.Errorf("passed: %t, want %t", got, test.want)
			}
		})
	}
}

func TestTheStatusControllerSeesClaimedDarkrooms(t *testing.T) {
	passes := isClaimed(&installation{name: "local"})
	for name, test := range map[string]struct {
		before, after *v1alpha1.Darkroom
		want          bool
	}{
		"claimed":    {claimedBy(""), claimedBy("local"), true},
		"given away": {claimedBy("local"), claimedBy("elsewhere"), true},
		"of another": {claimedBy("elsewhere"), claimedBy("elsewhere"), false},
	} {
		if got := passes.Update(event.UpdateEvent{ObjectOld: test.before, ObjectNew: test.after}); got != test.want {
			t.Errorf("%s: passed: %t, want %t", name, got, test.want)
		}
	}
	if passes.Create(event.CreateEvent{Object: claimedBy("")}) ||
		!passes.Create(event.CreateEvent{Object: claimedBy("local")}) {
		t.Error("created Darkrooms: only claimed ones should pass")
	}
}

func TestChangesOfTheDesiredStateAreReconciledAtOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*v1alpha1.Darkroom)
		want   bool
	}{
		"spec": {func(d *v1alpha1.Darkroom) { d.Generation++ }, true},
		"a requested retry": {func(d *v1alpha1.Darkroom) {
			d.Annotations = map[string]string{v1alpha1.AnnotationRequestedAt: "now"}
		}, true},
		"the end of a pause": {func(d *v1alpha1.Darkroom) { d.Annotations = nil }, true},
		"a label":            {func(d *v1alpha1.Darkroom) { d.Labels = map[string]string{"team": "cats"} }, true},
		"status":             {func(d *v1alpha1.Darkroom) { d.Status.Phase = v1alpha1.PhaseReady }, false},
		"managed fields":     {func(d *v1alpha1.Darkroom) { d.ResourceVersion = "2" }, false},
	} {
		before := &v1alpha1.Darkroom{}
		before.Annotations = map[string]string{v1alpha1.AnnotationPaused: "true", v1alpha1.AnnotationRequestedAt: "before"}
		after := before.DeepCopy()
		c.change(after)
		if got := changedOutsideStatus().Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}); got != c.want {
			t.Errorf("%s: reconciled: %t, want %t", name, got, c.want)
		}
	}
}
