//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/images"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/program"
)

// newDarkroom builds a Darkroom that reads from the web folder. Its requests are small, so that many fit on a node.
func newDarkroom(namespace, name string) *darkrooms.Builder {
	return darkrooms.New(name, namespace).
		Source(theSources.webFolder()).
		SubDomains(name+"."+namespace). // tests run in parallel, and a host has only one owner
		Request(corev1.ResourceCPU, "10m").
		Request(corev1.ResourceMemory, "32Mi")
}

// hostOf returns the host of a Darkroom's first sub-domain.
func hostOf(darkroom *v1alpha1.Darkroom) string {
	return darkroom.Spec.SubDomains[0] + "." + baseDomain
}

// newNamespace creates a restricted namespace, and deletes it when the test ends. After a
// failure it logs the objects in it.
func newNamespace(t *testing.T) string {
	t.Helper()
	return ownNamespace(t, restricted("", "e2e-"))
}

// ownNamespace does the same with a given namespace.
func ownNamespace(t *testing.T, namespace *corev1.Namespace) string {
	t.Helper()
	create(t, namespace)
	t.Cleanup(func() {
		if t.Failed() {
			out, err := program.Output(context.Background(), "kubectl", "describe", "darkrooms,pods",
				"--namespace", namespace.Name)
			t.Logf("%s (%v)", out, err)
		}
		// Darkrooms are deleted first, while the operator can remove their finalizers.
		for _, args := range [][]string{
			{"darkrooms", "--all", "--namespace", namespace.Name, "--timeout", waitTimeout.String()},
			{"namespace", namespace.Name, "--wait=false"},
		} {
			if _, err := program.Output(context.Background(), "kubectl", append([]string{"delete"}, args...)...); err != nil {
				t.Error(err)
			}
		}
	})
	return namespace.Name
}

func create(t *testing.T, object client.Object) {
	t.Helper()
	if err := kube.Create(t.Context(), object); err != nil {
		t.Fatalf("create %T: %v", object, err)
	}
}

// change applies a change to the current version of an object.
func change[T client.Object](t *testing.T, object T, mutate func(T)) {
	t.Helper()
	_, err := controllerutil.CreateOrPatch(t.Context(), kube, object, func() error {
		mutate(object)
		return nil
	})
	if err != nil {
		t.Fatalf("change %T %s: %v", object, client.ObjectKeyFromObject(object), err)
	}
}

// serve creates a Darkroom and waits until it has settled and serves images.
func serve(t *testing.T, darkroom *v1alpha1.Darkroom) {
	t.Helper()
	create(t, darkroom)
	waitSettled(t, darkroom)
	waitServing(t, darkroom)
}

// ready returns an error unless the current generation of a Darkroom is ready.
func ready(ctx context.Context, darkroom *v1alpha1.Darkroom) error {
	return says(ctx, darkroom, metav1.ConditionTrue, v1alpha1.ReasonAllReplicasReady)
}

// says returns an error unless the condition Ready of a Darkroom has the current generation, a status and one of some
// reasons.
func says(ctx context.Context, darkroom *v1alpha1.Darkroom, status metav1.ConditionStatus, reasons ...string) error {
	if err := kube.Get(ctx, client.ObjectKeyFromObject(darkroom), darkroom); err != nil {
		return err
	}
	condition := v1alpha1.FindCondition(darkroom.Status.Conditions, v1alpha1.ConditionReady)
	if condition == nil || condition.ObservedGeneration != darkroom.Generation || condition.Status != status ||
		!slices.Contains(reasons, condition.Reason) {
		return fmt.Errorf("%s is in phase %q, generation %d, condition Ready %+v; want %s with a reason of %s",
			darkroom.Name, darkroom.Status.Phase, darkroom.Generation, condition, status, reasons)
	}
	return nil
}

// waitReady waits until the current generation of a Darkroom is ready.
func waitReady(t *testing.T, darkroom *v1alpha1.Darkroom) time.Duration {
	t.Helper()
	return eventually(t, darkroom.Name+" is ready", func(ctx context.Context) error { return ready(ctx, darkroom) })
}

// waitReason waits until a Darkroom is not ready for one of some reasons.
func waitReason(t *testing.T, darkroom *v1alpha1.Darkroom, reasons ...string) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s is not ready because of %s", darkroom.Name, reasons), func(ctx context.Context) error {
		return says(ctx, darkroom, metav1.ConditionFalse, reasons...)
	})
}

// waitSettled waits until a Darkroom is ready and no pods of earlier templates or scales remain.
func waitSettled(t *testing.T, darkroom *v1alpha1.Darkroom) {
	t.Helper()
	eventually(t, darkroom.Name+" has settled", func(ctx context.Context) error { return settled(ctx, darkroom) })
}

func settled(ctx context.Context, darkroom *v1alpha1.Darkroom) error {
	if err := ready(ctx, darkroom); err != nil {
		return err
	}
	deployment := &appsv1.Deployment{}
	if err := kube.Get(ctx, client.ObjectKeyFromObject(darkroom), deployment); err != nil {
		return err
	}
	pods, err := podsOf(ctx, darkroom)
	if err != nil {
		return err
	}
	if len(pods) != int(*deployment.Spec.Replicas) {
		return fmt.Errorf("%s has %d pods, not %d", darkroom.Name, len(pods), *deployment.Spec.Replicas)
	}
	for i := range pods {
		if pods[i].DeletionTimestamp != nil || !images.IsReady(&pods[i]) {
			return fmt.Errorf("pod %s is ending or not ready", pods[i].Name)
		}
	}
	return nil
}

// podsOf returns the pods of a Darkroom, including terminating ones.
func podsOf(ctx context.Context, darkroom *v1alpha1.Darkroom) ([]corev1.Pod, error) {
	selector, err := labels.Parse(darkroom.Status.Selector)
	if err != nil || selector.Empty() {
		return nil, fmt.Errorf("status.selector %q of %s is not usable: %w", darkroom.Status.Selector, darkroom.Name, err)
	}
	list := &corev1.PodList{}
	err = kube.List(ctx, list, client.InNamespace(darkroom.Namespace), client.MatchingLabelsSelector{Selector: selector})
	return list.Items, err
}

// mustMention fails the test unless a text contains all of the parts.
func mustMention(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q does not mention %q", text, part)
		}
	}
}
