package controller_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/rollout"
)

// withImage sets the default image and the maximum number of concurrent rollouts.
func withImage(image string, rollouts int) operatorOption {
	return func(s *settings) { s.Values.Image, s.MaxConcurrentRollouts = image, rollouts }
}

// withIngressClass sets the default class of Ingresses, which does not affect pods.
func withIngressClass(class string) operatorOption {
	return func(s *settings) { s.Values.IngressClassName = class }
}

// rollingOf returns the names of the Deployments with an image, and those that are replacing their pods.
func rollingOf(ctx context.Context, namespace, image string) (updated, rolling []string, err error) {
	list := &appsv1.DeploymentList{}
	err = kube.List(ctx, list, client.InNamespace(namespace))
	for i := range list.Items {
		if list.Items[i].Spec.Template.Spec.Containers[0].Image != image {
			continue
		}
		updated = append(updated, list.Items[i].Name)
		if rollout.IsRolling(&list.Items[i]) {
			rolling = append(rolling, list.Items[i].Name)
		}
	}
	return updated, rolling, err
}

func TestAnUpgradeRollsAFewDarkroomsAtOnce(t *testing.T) {
	t.Parallel()
	const (
		size, limit = 5, 2
		before      = "registry.example.com/darkroom:v0.4.2"
		after       = "registry.example.com/darkroom:v0.4.3"
	)
	namespace := newNamespace(t)
	first := startOperator(t, namespace, withImage(before, 0))
	for i := range size {
		create(t, webFolder(namespace, fmt.Sprintf("photos-%d", i)))
	}
	for i := range size {
		becomeReady(t, namespace, fmt.Sprintf("photos-%d", i))
		eventuallyStatus(t, webFolder(namespace, fmt.Sprintf("photos-%d", i)), "Ready", isReady())
	}
	// The change of the default image does not affect these Darkrooms. Whatever the order of reconciles, at least one
	// Darkroom is reconciled after other rollouts have reached the limit.
	steady := []string{"album", "steady"}
	for _, name := range steady {
		darkroom := webFolder(namespace, name)
		darkroom.Spec.Image, darkroom.Spec.Version = &v1alpha1.Image{Repository: "registry.example.com/own"}, "v0.4.2"
		create(t, darkroom)
		becomeReady(t, namespace, name)
		eventuallyStatus(t, darkroom, "Ready", isReady())
	}
	eventually(t, "rest", quiet(first))
	first.kill()
	// If a Deployment differs from the one that the first operator applied, its pods may have to be replaced.
	for _, name := range steady {
		change(t, mustGet(t, &appsv1.Deployment{}, namespace, name),
			func(d *appsv1.Deployment) { d.Annotations["example.com/note"] = "by hand" })
		becomeReady(t, namespace, name)
	}

	second := startOperator(t, namespace, withImage(after, limit), withIngressClass("nginx"),
		func(s *settings) { s.MaxConcurrentReconciles = 1 }) // each worker may start one more
	exactly := func(ctx context.Context, want int) (rolling []string, err error) {
		_, rolling, err = rollingOf(ctx, namespace, after)
		if err == nil && len(rolling) != want {
			err = fmt.Errorf("%q roll, want %d", rolling, want)
		}
		return rolling, err
	}
	eventually(t, "the first rollouts", func(ctx context.Context) error { _, err := exactly(ctx, limit); return err })
	for _, name := range steady {
		own := mustGet(t, &appsv1.Deployment{}, namespace, name).Spec.Template.Spec.Containers[0].Image
		change(t, mustGet(t, &appsv1.Deployment{}, namespace, name), func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.Containers[0].Image = "registry.example.com/by-hand:v1"
		})
		// From here on, these Deployments replace their pods, too, but not because of the operator.
		eventuallyIs(t, "a repair that replaces pods", &appsv1.Deployment{}, namespace, name,
			func(d *appsv1.Deployment) bool {
				return d.Spec.Template.Spec.Containers[0].Image == own
			})
	}
	eventually(t, "rest", quiet(second))
	names, waiting := slices.Clone(steady), ""
	for i := range size {
		name := fmt.Sprintf("photos-%d", i)
		names = append(names, name)
		if now := mustGet(t, &appsv1.Deployment{}, namespace, name); now.Spec.Template.Spec.Containers[0].Image == before {
			waiting = name
			eventuallyStatus(t, webFolder(namespace, name), "why it waits", isReady(),
				has(v1alpha1.ConditionRolloutQueued, metav1.ConditionTrue, v1alpha1.ReasonRolloutLimit))
		}
	}
	for _, name := range names {
		eventuallyIs(t, "a change that replaces no pods", &networkingv1.Ingress{}, namespace, name,
			func(i *networkingv1.Ingress) bool {
				return ptr.Deref(i.Spec.IngressClassName, "") == "nginx"
			})
	}
	remove(t, mustGet(t, &corev1.Service{}, namespace, waiting))
	eventuallyIs(t, "the Service of a waiting Darkroom", &corev1.Service{}, namespace, waiting,
		func(s *corev1.Service) bool { return s.DeletionTimestamp == nil })
	if _, err := exactly(t.Context(), limit); err != nil {
		t.Fatal(err)
	}

	// A user's change is not postponed.
	change(t, webFolder(namespace, waiting), func(d *v1alpha1.Darkroom) { d.Spec.LogLevel = "warn" })
	eventually(t, "the user's change", func(ctx context.Context) error {
		configMap, err := configuration(ctx, namespace, waiting)
		if err == nil && configMap.Data["LOG_LEVEL"] != "warn" {
			err = fmt.Errorf("LOG_LEVEL is %q", configMap.Data["LOG_LEVEL"])
		}
		return err
	})
	eventuallyStatus(t, webFolder(namespace, waiting), "it waits no more", lacks(v1alpha1.ConditionRolloutQueued))
	rolling, err := exactly(t.Context(), limit+1)
	if err != nil {
		t.Fatal(err)
	}

	// One rollout exceeds its deadline. The others succeed.
	stuck := mustGet(t, &appsv1.Deployment{}, namespace, rolling[0])
	stuck.Status.ObservedGeneration = stuck.Generation
	stuck.Status.Conditions = []appsv1.DeploymentCondition{{
		Type: appsv1.DeploymentProgressing, Status: corev1.ConditionFalse, Reason: "ProgressDeadlineExceeded",
	}}
	if err := kube.Status().Update(t.Context(), stuck); err != nil {
		t.Fatal(err)
	}
	for _, name := range rolling[1:] {
		becomeReady(t, namespace, name)
	}
	eventually(t, "the rollouts of all", func(ctx context.Context) error {
		updated, rolling, err := rollingOf(ctx, namespace, after)
		if err == nil && len(updated) < size {
			err = fmt.Errorf("%q are updated and %q are rolling, want all updated", updated, rolling)
		}
		return err
	})
	for _, name := range names {
		if name != stuck.Name {
			becomeReady(t, namespace, name)
			eventuallyStatus(t, webFolder(namespace, name), "upgraded", isReady(), lacks(v1alpha1.ConditionRolloutQueued))
		}
	}
}
