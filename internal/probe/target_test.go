package probe

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
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
		Path: "/cat.jpg", Source: v1alpha1.WebFolder, Size: SizeWidth,
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
		Path: "/cat.jpg", Source: v1alpha1.S3, Size: SizeWidth,
		Period: 20 * time.Second, Timeout: 5 * time.Second, FailureThreshold: 1, Generation: 1,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("all set (-want +got):\n%s", diff)
	}
}

func TestTheSizeIsKnownFromTheDefaultParameters(t *testing.T) {
	for name, test := range map[string]struct {
		spec v1alpha1.DarkroomSpec
		want Size
	}{
		"none":                   {v1alpha1.DarkroomSpec{}, SizeWidth},
		"of no matter":           {v1alpha1.DarkroomSpec{DefaultParams: map[string]v1alpha1.ParamValue{"auto": "format", "rot": "90", "fit": ""}}, SizeWidth},
		"turns photos upright":   {v1alpha1.DarkroomSpec{DefaultParams: map[string]v1alpha1.ParamValue{"auto": "format,compress"}}, SizeEither},
		"width joined to w=16":   {v1alpha1.DarkroomSpec{DefaultParams: map[string]v1alpha1.ParamValue{"w": "100"}}, SizeAny},
		"a second bound":         {v1alpha1.DarkroomSpec{DefaultParams: map[string]v1alpha1.ParamValue{"h": "8"}}, SizeAny},
		"another way of fitting": {v1alpha1.DarkroomSpec{DefaultParams: map[string]v1alpha1.ParamValue{"fit": "crop"}}, SizeAny},
		"in the environment":     {v1alpha1.DarkroomSpec{ExtraEnv: []corev1.EnvVar{{Name: "DEFAULTPARAMS", Value: "w=100"}}}, SizeAny},
		"another variable":       {v1alpha1.DarkroomSpec{ExtraEnv: []corev1.EnvVar{{Name: "CACHE_TIME", Value: "1"}}}, SizeWidth},
		"perhaps somewhere else": {v1alpha1.DarkroomSpec{ExtraEnvFrom: []corev1.EnvFromSource{{}}}, SizeAny},
	} {
		if got := sizeOf(&test.spec); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}
