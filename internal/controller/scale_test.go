package controller_test

import (
	"context"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// TestAnAutoscalerOfTheScaleSubresourceSetsThePods plays KEDA and the HorizontalPodAutoscaler
// that it creates: they read the number of pods and their selector from the scale subresource,
// and write the desired number there, at each poll and by a client of their own.
func TestAnAutoscalerOfTheScaleSubresourceSetsThePods(t *testing.T) {
	t.Parallel()
	operator, darkroom := startWithPhotos(t)
	namespace := darkroom.Namespace
	scale := func(replicas int32) {
		t.Helper()
		desired := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: replicas}}
		err := kube.SubResource("scale").Update(t.Context(), darkroom, client.WithSubResourceBody(desired), client.FieldOwner("keda"))
		if err != nil {
			t.Fatal(err)
		}
	}
	eventuallyShown := func(replicas int32) {
		t.Helper()
		eventually(t, fmt.Sprintf("%d replicas", replicas), func(ctx context.Context) error {
			deployment, err := get(ctx, &appsv1.Deployment{}, namespace, "photos")
			if err == nil && *deployment.Spec.Replicas != replicas {
				err = fmt.Errorf("the Deployment has %d", *deployment.Spec.Replicas)
			}
			return err
		})
		becomeReady(t, namespace, "photos")
		eventually(t, "the pods in the scale subresource", func(ctx context.Context) error {
			seen := &autoscalingv1.Scale{}
			err := kube.SubResource("scale").Get(ctx, darkroom, seen)
			if err == nil && (seen.Status.Replicas != replicas || seen.Status.Selector == "") {
				err = fmt.Errorf("it has %+v", seen.Status)
			}
			return err
		})
	}
	for _, replicas := range []int32{4, 2, 0, 3} {
		scale(replicas)
		eventuallyShown(replicas)
	}

	eventually(t, "rest", quiet(operator))
	before := mustGet(t, &appsv1.Deployment{}, namespace, "photos").ResourceVersion
	for range 5 {
		scale(3)
	}
	eventually(t, "rest", quiet(operator))
	if now := mustGet(t, &appsv1.Deployment{}, namespace, "photos"); now.ResourceVersion != before {
		t.Error("the same number, written again, wrote the Deployment")
	}

	change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.LogLevel = "warn" })
	eventually(t, "the upgrade", installed(namespace, "photos"))
	if got := *mustGet(t, &appsv1.Deployment{}, namespace, "photos").Spec.Replicas; got != 3 {
		t.Errorf("after another change there are %d replicas", got)
	}
}
