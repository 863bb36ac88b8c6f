//go:build e2e

package olm

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/program"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/wait"
)

// limits bound the wait for states that should take seconds: the machines are shared, and
// lifecycle managers retry after a while.
var limits = wait.Limits{Timeout: 4 * time.Minute, Period: 250 * time.Millisecond}

// eventually waits until a check finds nothing wrong.
func eventually(t *testing.T, what string, check func(context.Context) error) {
	t.Helper()
	started := time.Now()
	if err := limits.Until(t.Context(), what, check); err != nil {
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

// mustRun runs a program and returns what it writes.
func mustRun(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := program.Output(t.Context(), name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// waitAvailable waits until a Deployment has the pods it asks for, and no older ones.
func waitAvailable(t *testing.T, namespace, name string) *appsv1.Deployment {
	t.Helper()
	deployment := &appsv1.Deployment{}
	eventually(t, "Deployment "+name+" is available", func(ctx context.Context) error {
		_, err := program.Output(ctx, "kubectl", "rollout", "status", "deployment", name, "--namespace", namespace, "--timeout=30s")
		if err != nil {
			return fmt.Errorf("%w: %s", err, podsOf(ctx, namespace))
		}
		return kube.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, deployment)
	})
	return deployment
}

// podsOf reports how the pods of a namespace are.
func podsOf(ctx context.Context, namespace string) string {
	out, err := program.Output(ctx, "kubectl", "get", "pods", "--namespace", namespace)
	if err != nil {
		return err.Error()
	}
	return string(out)
}
