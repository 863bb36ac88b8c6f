//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

func TestPodsThatDoNotFitAreReported(t *testing.T) {
	t.Parallel()
	darkroom := newDarkroom(newNamespace(t), "large").Request(corev1.ResourceCPU, "1k").Obj()
	create(t, darkroom)
	waitReason(t, darkroom, v1alpha1.ReasonUnschedulable)

	change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.Resources = nil })
	waitReady(t, darkroom)
	waitServing(t, darkroom)
}

// A pod's settings must go with its template: one that is recreated while a later
// change is stuck, or is only half applied because the operator was killed, must
// not start with the later settings.
func TestAPodRecreatedDuringAStuckRolloutKeepsItsSettings(t *testing.T) {
	t.Parallel()
	darkroom := newDarkroom(newNamespace(t), "stuck").Obj()
	create(t, darkroom)
	waitSettled(t, darkroom)
	waitServing(t, darkroom)
	change(t, darkroom, func(d *v1alpha1.Darkroom) {
		d.Spec.Source = theSources.s3Inline(accessKey, secretKey)
		d.Spec.Version = "v9.9.9"
	})
	waitReason(t, darkroom, v1alpha1.ReasonImagePullFailed)

	pods, err := podsOf(t.Context(), darkroom)
	if err != nil {
		t.Fatal(err)
	}
	for _, pod := range pods {
		if isPodReady(&pod) {
			if err := kube.Delete(t.Context(), &pod); err != nil {
				t.Fatal(err)
			}
		}
	}
	eventually(t, "another pod of the old template is ready, and the first is gone", func(ctx context.Context) error {
		now, err := podsOf(ctx, darkroom)
		if err != nil {
			return err
		}
		replaced := false
		for i := range now {
			if slices.ContainsFunc(pods, func(old corev1.Pod) bool { return old.UID == now[i].UID && isPodReady(&old) }) {
				return fmt.Errorf("%s is still there", now[i].Name)
			}
			replaced = replaced || isPodReady(&now[i])
		}
		if !replaced {
			return errors.New("none is ready")
		}
		return nil
	})
	within(t, repairTimeout, "it serves", func(ctx context.Context) error { return serves(ctx, hostOf(darkroom), 90) })
}
