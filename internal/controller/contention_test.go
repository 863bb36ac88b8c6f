package controller_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The status of a Deployment is written all the time, and each write is a conflict for the
// operator when it reverts additions to the specification.
func TestAdditionsAreRevertedDespiteConcurrentWrites(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	var conflicts atomic.Int32
	startOperator(t, namespace, withTransport(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			reclaims := strings.Contains(request.URL.Path, "/deployments/") && request.Header.Get("Content-Type") == "application/merge-patch+json"
			// More than are tried at a time, so that the next reconcile is part of it.
			if reclaims && conflicts.Load() < 7 {
				conflicts.Add(1)
				writeStatus(request.Context(), t, namespace, conflicts.Load())
			}
			return next.RoundTrip(request)
		})
	}))
	create(t, webFolder(namespace, "photos"))
	eventually(t, "the release", installed(namespace, "photos"))

	variableAddedByHandGoes(t, namespace)
	if conflicts.Load() < 7 {
		t.Errorf("only %d writes came in between", conflicts.Load())
	}
}

// variableAddedByHandGoes adds a variable to the Deployment, and waits until it is
// taken away.
func variableAddedByHandGoes(t *testing.T, namespace string) {
	t.Helper()
	deployment := mustGet(t, &appsv1.Deployment{}, namespace, "photos")
	change(t, deployment, func(d *appsv1.Deployment) {
		container := &d.Spec.Template.Spec.Containers[0]
		container.Env = append(container.Env, corev1.EnvVar{Name: "ADDED", Value: "by hand"})
	})
	eventually(t, "its absence", func(ctx context.Context) error {
		now, err := get(ctx, &appsv1.Deployment{}, namespace, "photos")
		if err != nil {
			return err
		}
		for _, variable := range now.Spec.Template.Spec.Containers[0].Env {
			if variable.Name == "ADDED" {
				return errors.New("it is still there")
			}
		}
		return nil
	})
}

func writeStatus(ctx context.Context, t *testing.T, namespace string, replicas int32) {
	t.Helper()
	deployment, err := get(ctx, &appsv1.Deployment{}, namespace, "photos")
	if err != nil {
		t.Error(err)
		return
	}
	before := deployment.DeepCopy()
	deployment.Status.Replicas = replicas
	if err := kube.Status().Patch(ctx, deployment, client.MergeFrom(before)); err != nil {
		t.Error(err)
	}
}

// A conflict with a concurrent write of the Darkroom is retried and not reported.
func TestADarkroomThatChangesDuringItsReconcileIsReconciledAgain(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	var stale atomic.Int32
	startOperator(t, namespace, withTransport(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			if request.Header.Get("Content-Type") == "application/json-patch+json" && stale.Add(1) <= 3 {
				touch := fmt.Sprintf(`{"metadata":{"annotations":{"touched":"%d"}}}`, stale.Load())
				if err := kube.Patch(request.Context(), webFolder(namespace, "photos"), client.RawPatch(types.MergePatchType, []byte(touch))); err != nil {
					t.Error(err)
				}
			}
			return next.RoundTrip(request)
		})
	}))
	create(t, webFolder(namespace, "photos"))
	eventually(t, "the release", installed(namespace, "photos"))
	if stale.Load() < 4 {
		t.Errorf("%d patches: none came too late", stale.Load())
	}
	if failures := events(t, namespace, "ReleaseFailed"); len(failures) > 0 {
		t.Errorf("an event tells of it: %s", failures[0].Note)
	}
}
