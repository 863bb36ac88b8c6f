//go:build e2e

package olm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/wait"
)

const (
	// waitTimeout bounds the wait for states that should take seconds: the machines
	// are shared, and lifecycle managers retry after a while.
	waitTimeout = 4 * time.Minute
	// pollPeriod is the interval of checks while waiting.
	pollPeriod = 250 * time.Millisecond
)

// poll checks until nothing is wrong, waitTimeout ends, or the context does.
func poll(ctx context.Context, what string, check func(context.Context) error) error {
	return wait.Limits{Timeout: waitTimeout, Period: pollPeriod}.Until(ctx, what, check)
}

// eventually waits until a check finds nothing wrong.
func eventually(t *testing.T, what string, check func(context.Context) error) {
	t.Helper()
	started := time.Now()
	if err := poll(t.Context(), what, check); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s after %.1fs", what, time.Since(started).Seconds())
}

// ensure creates an object unless it is there.
func ensure(ctx context.Context, object client.Object) error {
	if err := kube.Create(ctx, object); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create %T %s: %w", object, object.GetName(), err)
	}
	return nil
}

// create creates objects, and fails the test if one is refused.
func create(t *testing.T, objects ...client.Object) {
	t.Helper()
	for _, object := range objects {
		if err := kube.Create(t.Context(), object); err != nil {
			t.Fatalf("create %T %s: %v", object, object.GetName(), err)
		}
	}
}

// remove deletes objects, and waits until they are gone.
func remove(t *testing.T, objects ...client.Object) {
	t.Helper()
	for _, object := range objects {
		if err := kube.Delete(t.Context(), object); client.IgnoreNotFound(err) != nil {
			t.Fatalf("delete %T %s: %v", object, object.GetName(), err)
		}
		eventually(t, fmt.Sprintf("%T %s is gone", object, object.GetName()), func(ctx context.Context) error {
			err := kube.Get(ctx, client.ObjectKeyFromObject(object), object)
			if apierrors.IsNotFound(err) {
				return nil
			}
			return errors.Join(err, fmt.Errorf("it is still there, with the finalizers %q", object.GetFinalizers()))
		})
	}
}

// applyAll applies objects as an administrator does, definitions first.
func applyAll(ctx context.Context, objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		err := poll(ctx, "applied "+object.GetKind()+" "+object.GetName(), func(ctx context.Context) error {
			err := kube.Apply(ctx, client.ApplyConfigurationFromUnstructured(object.DeepCopy()), client.FieldOwner("olm-test"), client.ForceOwnership)
			if err != nil && !meta.IsNoMatchError(err) && !apierrors.IsNotFound(err) {
				return wait.Permanent(err)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// waitAvailable waits until a Deployment has the pods it asks for, and no older ones.
func waitAvailable(t *testing.T, namespace, name string) *appsv1.Deployment {
	t.Helper()
	deployment := &appsv1.Deployment{}
	eventually(t, "Deployment "+name+" is available", func(ctx context.Context) error {
		if err := kube.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, deployment); err != nil {
			return err
		}
		status := deployment.Status
		if wanted := ptr.Deref(deployment.Spec.Replicas, 1); status.ObservedGeneration == deployment.Generation &&
			status.UpdatedReplicas == wanted && status.AvailableReplicas == wanted && status.Replicas == wanted {
			return nil
		}
		return fmt.Errorf("%+v: %s", status, podsOf(ctx, namespace))
	})
	return deployment
}

// podsOf reports how the pods of a namespace are.
func podsOf(ctx context.Context, namespace string) string {
	pods := &corev1.PodList{}
	if err := kube.List(ctx, pods, client.InNamespace(namespace)); err != nil {
		return err.Error()
	}
	var text strings.Builder
	for _, pod := range pods.Items {
		fmt.Fprintf(&text, "pod %s is %s", pod.Name, pod.Status.Phase)
		for _, status := range pod.Status.ContainerStatuses {
			if status.State.Waiting != nil {
				fmt.Fprintf(&text, ", waits: %s", status.State.Waiting.Message)
			}
			if status.LastTerminationState.Terminated != nil {
				fmt.Fprintf(&text, ", ended: %s", status.LastTerminationState.Terminated.Message)
			}
		}
		text.WriteString("; ")
	}
	return text.String()
}
