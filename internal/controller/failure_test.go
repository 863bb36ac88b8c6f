package controller_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

func TestForeignObjectsAreNeverTakenOver(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	startOperator(t, namespace)
	foreign := &corev1.ServiceAccount{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: "photos",
			Annotations: map[string]string{"precious": "yes"},
		},
	}
	create(t, foreign)
	darkroom := webFolder(namespace, "photos")
	create(t, darkroom)
	eventuallyStatus(t, darkroom, "refused",
		says("ServiceAccount photos: the object exists and does not belong to this Darkroom"),
		isNotReady(v1alpha1.ReasonReleaseFailed))
	eventuallyEvent(t, namespace, "ReleaseFailed")
	// The second and third attempts must neither trust a name from the first one nor report a failed release as
	// deployed.
	time.Sleep(time.Second)
	if status := mustGet(t, &v1alpha1.Darkroom{}, namespace, "photos").Status; status.DeployedRelease != nil ||
		v1alpha1.IsConditionTrue(status.Conditions, v1alpha1.ConditionDeployed) {
		t.Errorf("the status reports a deployed release: %+v", status)
	}
	now := mustGet(t, &corev1.ServiceAccount{}, namespace, "photos")
	if now.UID != foreign.UID || len(now.Labels) != 0 || len(now.Annotations) != 1 ||
		now.Annotations["precious"] != "yes" {
		t.Errorf("the foreign object was changed: %+v", now)
	}

	t.Run("and outlive the Darkroom", func(t *testing.T) {
		remove(t, darkroom)
		eventually(t, "it is gone", gone(darkroom))
		mustGet(t, &corev1.ServiceAccount{}, namespace, "photos")
	})
	t.Run("and their removal heals the Darkroom", func(t *testing.T) {
		again := webFolder(namespace, "photos")
		create(t, again)
		eventuallyStatus(t, again, "refused", isNotReady(v1alpha1.ReasonReleaseFailed))
		remove(t, foreign)
		eventually(t, "the release", installed(namespace, "photos"))
	})
}

// errKilled is the error of every request after the operator is killed.
var errKilled = errors.New("the operator was killed")

// interrupted is an action during which an operator is killed.
type interrupted struct {
	prepare bool // install first, by a healthy operator
	act     func(*testing.T, *v1alpha1.Darkroom)
	done    func(*testing.T, *v1alpha1.Darkroom) func(context.Context) error
}

// TestAnOperatorKilledAtAnyRequestLeavesWhatTheNextOneRecovers kills an operator before each write of an install, an
// upgrade and a deletion, one after another. With -short, it does so only before every fourth write.
func TestAnOperatorKilledAtAnyRequestLeavesWhatTheNextOneRecovers(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]interrupted{
		"install": {
			act: func(t *testing.T, d *v1alpha1.Darkroom) { create(t, d) },
			done: func(_ *testing.T, d *v1alpha1.Darkroom) func(context.Context) error {
				return installed(d.Namespace, d.Name)
			},
		},
		"upgrade": {
			prepare: true,
			act: func(t *testing.T, d *v1alpha1.Darkroom) {
				change(t, d, func(d *v1alpha1.Darkroom) { d.Spec.LogLevel, d.Spec.SubDomains = "warn", []string{"a", "b"} })
			},
			done: func(_ *testing.T, d *v1alpha1.Darkroom) func(context.Context) error {
				return func(ctx context.Context) error {
					return errors.Join(logLevelIs("warn")(ctx, d.Namespace), installed(d.Namespace, d.Name)(ctx))
				}
			},
		},
		"deletion": {
			prepare: true,
			act:     func(t *testing.T, d *v1alpha1.Darkroom) { remove(t, d) },
			done:    func(_ *testing.T, d *v1alpha1.Darkroom) func(context.Context) error { return gone(d) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const limit = 40 // more writes than any action makes
			step := 1
			if testing.Short() {
				step = 4
			}
			for writes := 0; writes < limit; writes += step {
				if killedAt(t, writes, act) {
					t.Logf("%s: finished before write %d", name, writes+1)
					if writes == 0 {
						t.Error("the operator was never killed")
					}
					return
				}
			}
			t.Errorf("the action makes more than %d writes", limit)
		})
	}
}

// killedAt kills an operator after a number of writes and lets another operator finish. It reports whether the first
// operator had already finished.
func killedAt(t *testing.T, writes int, interrupted interrupted) bool {
	t.Helper()
	namespace := newNamespace(t)
	darkroom := webFolder(namespace, "photos")
	if interrupted.prepare {
		healthy := startOperator(t, namespace)
		install(t, darkroom)
		eventually(t, "rest", quiet(healthy))
		healthy.kill()
	}

	var left atomic.Int64
	left.Store(int64(writes))
	var dead atomic.Bool
	doomed := startOperator(t, namespace, beforeEach(func(request *http.Request) error {
		if request.Method != http.MethodGet && left.Add(-1) < 0 {
			dead.Store(true)
		}
		if dead.Load() && request.URL.Query().Get("watch") == "" {
			return errKilled
		}
		return nil
	}))
	interrupted.act(t, darkroom)
	done := interrupted.done(t, darkroom)
	eventually(t, "death or success", func(ctx context.Context) error {
		if dead.Load() {
			return nil
		}
		return done(ctx)
	})
	finished := !dead.Load()
	doomed.kill()

	startOperator(t, namespace)
	eventually(t, fmt.Sprintf("recovery from a kill before write %d", writes+1), done)
	history, _ := helmByHand(t, namespace).Releases.History("photos") // none after a deletion
	for _, revision := range history {
		if revision.Info.Status.IsPending() {
			t.Errorf("killed before write %d: revision %d has the status %s", writes+1, revision.Version, revision.Info.Status)
		}
	}
	return finished
}

// The status of a Deployment changes frequently, and each change can cause a conflict when the operator reverts
// additions to the spec.
func TestAdditionsAreRevertedDespiteConcurrentWrites(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	var conflicts atomic.Int32
	startOperator(t, namespace, beforeEach(func(request *http.Request) error {
		reclaims := strings.Contains(request.URL.Path, "/deployments/") &&
			request.Header.Get("Content-Type") == "application/merge-patch+json"
		// There are more conflicts than attempts per reconcile, so a second reconcile has to finish the work.
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
		t.Errorf("got only %d conflicting writes", conflicts.Load())
	}
}

// addVariable adds an environment variable to the Deployment.
var addVariable = edit(&appsv1.Deployment{}, func(d *appsv1.Deployment) {
	container := &d.Spec.Template.Spec.Containers[0]
	container.Env = append(container.Env, corev1.EnvVar{Name: "ADDED", Value: "by hand"})
})

// variableIsGone returns an error while the Deployment has the variable of addVariable.
var variableIsGone = is(&appsv1.Deployment{}, func(d *appsv1.Deployment) bool {
	return !strings.Contains(encoded(d.Spec.Template), "ADDED")
})

// A conflict with a concurrent write of the Darkroom is retried but not reported.
func TestADarkroomThatChangesDuringItsReconcileIsReconciledAgain(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	var stale atomic.Int32
	startOperator(t, namespace, beforeEach(func(request *http.Request) error {
		if request.Header.Get("Content-Type") == "application/json-patch+json" && stale.Add(1) <= 3 {
			touch := fmt.Sprintf(`{"metadata":{"annotations":{"touched":"%d"}}}`, stale.Load())
			return kube.Patch(request.Context(), webFolder(namespace, "photos"),
				client.RawPatch(types.MergePatchType, []byte(touch)))
		}
		return nil
	}))
	install(t, webFolder(namespace, "photos"))
	if stale.Load() < 4 {
		t.Errorf("got %d stale patches, want at least one", stale.Load())
	}
	if failures := events(t, namespace, "ReleaseFailed"); len(failures) > 0 {
		t.Errorf("the conflict is reported as an event: %s", failures[0].Note)
	}
}
