package probe

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

func TestTargetOfADarkroom(t *testing.T) {
	if target, found := TargetOf(darkrooms.New("photos", "team-a").Obj()); found {
		t.Errorf("a Darkroom without a probe has target %+v", target)
	}
	probe := &v1alpha1.Probe{Path: "/cat.jpg"}
	got, found := TargetOf(darkrooms.New("photos", "team-a").Generation(7).Spec(func(s *v1alpha1.DarkroomSpec) {
		s.Probe, s.Source.Type = probe, ""
	}).Obj())
	want := Target{
		Path: "/cat.jpg", Source: v1alpha1.WebFolder,
		Period: time.Minute, Timeout: 10 * time.Second, FailureThreshold: 3, Generation: 7,
	}
	if diff := cmp.Diff(want, got); diff != "" || !found {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
	probe.PeriodSeconds, probe.TimeoutSeconds, probe.FailureThreshold = ptr.To[int32](20), ptr.To[int32](5), ptr.To[int32](1)
	got, _ = TargetOf(darkrooms.New("photos", "team-a").Spec(func(s *v1alpha1.DarkroomSpec) {
		s.Probe, s.Source.Type = probe, v1alpha1.S3
	}).Obj())
	want = Target{
		Path: "/cat.jpg", Source: v1alpha1.S3,
		Period: 20 * time.Second, Timeout: 5 * time.Second, FailureThreshold: 1, Generation: 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("all set (-want +got):\n%s", diff)
	}
}
