//go:build e2e

package olm

import (
	"context"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/program"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/wait"
)

// limits bound the wait for states that should take seconds. The machines are shared, and lifecycle managers retry only
// after a while.
var limits = wait.Limits{Timeout: 4 * time.Minute, Period: 250 * time.Millisecond}

// eventually waits until a check returns no error.
func eventually(t *testing.T, what string, check func(context.Context) error) {
	t.Helper()
	started := time.Now()
	must(t, limits.Until(t.Context(), what, check))
	t.Logf("%s after %.1fs", what, time.Since(started).Seconds())
}

// create creates objects, and fails the test if one is rejected.
func create(t *testing.T, objects ...client.Object) {
	t.Helper()
	for _, object := range objects {
		if err := kube.Create(t.Context(), object); err != nil {
			t.Fatalf("create %T %s: %v", object, object.GetName(), err)
		}
	}
}

// remove deletes objects of a kind, and waits until they are gone.
func remove(t *testing.T, namespace, kind string, names ...string) {
	t.Helper()
	mustRun(t, "kubectl", append([]string{"delete", kind, "--ignore-not-found", "--timeout=4m", "--namespace", namespace},
		names...)...)
}

// mustRun runs a program and returns its output. After a failure it logs the existing pods.
func mustRun(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := program.Output(t.Context(), name, args...)
	if err != nil {
		t.Fatalf("%v: %s: %s", err, out, pods(t.Context()))
	}
	return string(out)
}

// waitAvailable waits until a Deployment has the requested pods, and no older ones.
func waitAvailable(t *testing.T, namespace, name string) *appsv1.Deployment {
	t.Helper()
	deployment := &appsv1.Deployment{}
	eventually(t, "Deployment "+name+" is available", func(ctx context.Context) error {
		_, err := program.Output(ctx, "kubectl", "rollout", "status", "deployment", name, "--namespace",
			namespace, "--timeout=30s")
		if err != nil {
			return fmt.Errorf("%w: %s", err, pods(ctx))
		}
		return kube.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, deployment)
	})
	return deployment
}

// pods describes the state of the pods.
func pods(ctx context.Context) string {
	out, err := program.Output(ctx, "kubectl", "get", "pods", "--all-namespaces")
	return fmt.Sprintf("%s (%v)", out, err)
}
