package controller_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The status of a Deployment is written all the time, and each write is a conflict for the
// operator when it reverts additions to the specification.
func TestAdditionsAreRevertedDespiteConcurrentWrites(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	var conflicts atomic.Int32
	startOperator(t, namespace, beforeEach(func(request *http.Request) error {
		reclaims := strings.Contains(request.URL.Path, "/deployments/") && request.Header.Get("Content-Type") == "application/merge-patch+json"
		// More than are tried at a time, so that the next reconcile is part of it.
		if reclaims && conflicts.Load() < 7 {
			status := fmt.Sprintf(`{"status":{"replicas":%d}}`, conflicts.Add(1))
			deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "photos"}}
			return kube.Status().Patch(request.Context(), deployment, client.RawPatch(types.MergePatchType, []byte(status)))
		}
		return nil
	}))
	install(t, webFolder(namespace, "photos"))

	addVariable(t, namespace)
	eventually(t, "its absence", func(ctx context.Context) error { return variableIsGone(ctx, namespace) })
	if conflicts.Load() < 7 {
		t.Errorf("only %d writes came in between", conflicts.Load())
	}
}

// addVariable adds a variable to the Deployment by hand.
var addVariable = edit(&appsv1.Deployment{}, func(d *appsv1.Deployment) {
	container := &d.Spec.Template.Spec.Containers[0]
	container.Env = append(container.Env, corev1.EnvVar{Name: "ADDED", Value: "by hand"})
})

// variableIsGone returns an error while the variable of addVariable is there.
var variableIsGone = is(&appsv1.Deployment{}, func(d *appsv1.Deployment) bool {
	return !strings.Contains(encoded(d.Spec.Template), "ADDED")
})

// A conflict with a concurrent write of the Darkroom is retried and not reported.
func TestADarkroomThatChangesDuringItsReconcileIsReconciledAgain(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	var stale atomic.Int32
	startOperator(t, namespace, beforeEach(func(request *http.Request) error {
		if request.Header.Get("Content-Type") == "application/json-patch+json" && stale.Add(1) <= 3 {
			touch := fmt.Sprintf(`{"metadata":{"annotations":{"touched":"%d"}}}`, stale.Load())
			return kube.Patch(request.Context(), webFolder(namespace, "photos"), client.RawPatch(types.MergePatchType, []byte(touch)))
		}
		return nil
	}))
	install(t, webFolder(namespace, "photos"))
	if stale.Load() < 4 {
		t.Errorf("%d patches: none came too late", stale.Load())
	}
	if failures := events(t, namespace, "ReleaseFailed"); len(failures) > 0 {
		t.Errorf("an event tells of it: %s", failures[0].Note)
	}
}
