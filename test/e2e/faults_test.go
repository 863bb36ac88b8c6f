//go:build e2e

package e2e

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

func TestAnImageThatDoesNotExistIsNamedWhileTheOldPodServes(t *testing.T) {
	t.Parallel()
	darkroom := newDarkroom(newNamespace(t), "pulled").PullPolicy(corev1.PullIfNotPresent).Obj()
	create(t, darkroom)
	waitReady(t, darkroom)
	waitServing(t, darkroom)

	load := startLoad(hostOf(darkroom))
	defer load.end(t)
	change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.Version = "v9.9.9" })
	load.during(t, "image cannot be pulled", func() { waitReason(t, darkroom, v1alpha1.ReasonImagePullFailed) })
	mustMention(t, messageOfReady(darkroom), "gojektech/darkroom:v9.9.9")
	if darkroom.Status.ReadyReplicas != 1 || darkroom.Status.Phase != v1alpha1.PhaseDegraded {
		t.Errorf("phase %s with %d ready replicas, want Degraded with 1", darkroom.Status.Phase, darkroom.Status.ReadyReplicas)
	}

	change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.Version = "0.4.2" })
	load.during(t, "version fixed", func() { waitSettled(t, darkroom) })
}

func TestPodsThatCrashAreReportedWhileTheOldPodServes(t *testing.T) {
	t.Parallel()
	darkroom := newDarkroom(newNamespace(t), "crashing").Obj()
	create(t, darkroom)
	waitReady(t, darkroom)
	waitServing(t, darkroom)

	load := startLoad(hostOf(darkroom))
	defer load.end(t)
	change(t, darkroom, func(d *v1alpha1.Darkroom) {
		d.Spec.ExtraEnv = []corev1.EnvVar{{Name: "SOURCE_KIND", Value: "nonsense"}}
	})
	load.during(t, "pods crash", func() { waitReason(t, darkroom, v1alpha1.ReasonPodsFailing) })
	mustMention(t, messageOfReady(darkroom), "CrashLoopBackOff", "code 1")

	change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.ExtraEnv = nil })
	load.during(t, "setting fixed", func() { waitSettled(t, darkroom) })
}
