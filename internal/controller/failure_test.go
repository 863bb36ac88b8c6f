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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// quiet returns an error unless an operator makes no request for a while.
func quiet(o *operator) func(context.Context) error {
	return func(context.Context) error {
		before := o.requests.count.Load()
		time.Sleep(time.Second)
		if after := o.requests.count.Load(); after != before {
			return fmt.Errorf("%d requests within a second", after-before)
		}
		return nil
	}
}

func TestForeignObjectsAreNeverTakenOver(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	startOperator(t, namespace)
	foreign := &corev1.ServiceAccount{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "photos", Annotations: map[string]string{"precious": "yes"}},
	}
	create(t, foreign)
	darkroom := webFolder(namespace, "photos")
	create(t, darkroom)
	eventuallyStatus(t, darkroom, "refused", says("ServiceAccount photos: the object exists and does not belong to this Darkroom", v1alpha1.ReasonReleaseFailed))
	eventuallyEvent(t, namespace, "ReleaseFailed")
	// A second and third try must not trust what the first one named.
	time.Sleep(time.Second)
	now := mustGet(t, &corev1.ServiceAccount{}, namespace, "photos")
	if now.UID != foreign.UID || len(now.Labels) != 0 || len(now.Annotations) != 1 || now.Annotations["precious"] != "yes" {
		t.Errorf("it was touched: %+v", now)
	}

	t.Run("and outlive the Darkroom", func(t *testing.T) {
		other := webFolder(namespace, "other")
		create(t, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "other"}})
		create(t, other)
		eventuallyCondition(t, other, "refused", v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonReleaseFailed)
		remove(t, other)
		eventually(t, "it is gone", gone(other))
		mustGet(t, &corev1.ServiceAccount{}, namespace, "other")
	})
	t.Run("and their removal heals the Darkroom", func(t *testing.T) {
		remove(t, foreign)
		eventually(t, "the release", installed(namespace, "photos"))
	})
}

func gone(darkroom *v1alpha1.Darkroom) func(context.Context) error {
	return func(ctx context.Context) error {
		if _, err := get(ctx, &v1alpha1.Darkroom{}, darkroom.Namespace, darkroom.Name); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the Darkroom is still there (%w)", err)
		}
		left, err := belongings(ctx, darkroom)
		if len(left) > 0 {
			return fmt.Errorf("left behind: %v", names(left))
		}
		return err
	}
}

func TestAnImmutableFieldShowsAndHeals(t *testing.T) {
	t.Parallel()
	operator, darkroom := startWithPhotos(t)
	namespace := darkroom.Namespace
	operator.kill()

	// While no operator runs, a user recreates the Deployment with another selector.
	deployment := mustGet(t, &appsv1.Deployment{}, namespace, "photos")
	remove(t, deployment.DeepCopy())
	deployment.ResourceVersion, deployment.UID = "", ""
	deployment.Spec.Selector.MatchLabels["app"] = "other"
	deployment.Spec.Template.Labels["app"] = "other"
	create(t, deployment)

	startOperator(t, namespace)
	eventuallyStatus(t, darkroom, "the cause", says("field is immutable", v1alpha1.ReasonReleaseFailed))
	remove(t, mustGet(t, &appsv1.Deployment{}, namespace, "photos"))
	becomeReady(t, namespace, "photos")
	eventuallyCondition(t, darkroom, "Ready", v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonAllReplicasReady)
}

// errKilled is what every request meets once the operator is taken to be dead.
var errKilled = errors.New("the operator was killed")

// TestAnOperatorKilledAtAnyRequestLeavesWhatTheNextOneRecovers kills an operator
// before each of its writes in turn, during an install, an upgrade and a deletion.
// With -short it is killed before every fourth.
func TestAnOperatorKilledAtAnyRequestLeavesWhatTheNextOneRecovers(t *testing.T) {
	t.Parallel()
	acts := map[string]struct {
		prepare bool // install first, by a healthy operator
		act     func(*testing.T, *v1alpha1.Darkroom)
		done    func(*v1alpha1.Darkroom) func(context.Context) error
	}{
		"adoption": {
			act: func(t *testing.T, d *v1alpha1.Darkroom) {
				installPlainChart(t, d.Namespace, d.Name)
				d.Annotations = map[string]string{v1alpha1.AnnotationAdoptRelease: d.Name}
				create(t, d)
			},
			done: func(d *v1alpha1.Darkroom) func(context.Context) error { return adopted(t, d) },
		},
		"install": {
			act: func(t *testing.T, d *v1alpha1.Darkroom) { create(t, d) },
			done: func(d *v1alpha1.Darkroom) func(context.Context) error {
				return installed(d.Namespace, d.Name)
			},
		},
		"upgrade": {
			prepare: true,
			act: func(t *testing.T, d *v1alpha1.Darkroom) {
				change(t, d, func(d *v1alpha1.Darkroom) { d.Spec.LogLevel, d.Spec.SubDomains = "warn", []string{"a", "b"} })
			},
			done: func(d *v1alpha1.Darkroom) func(context.Context) error {
				return func(ctx context.Context) error {
					configMap, err := configuration(ctx, d.Namespace, d.Name)
					if err == nil && configMap.Data["LOG_LEVEL"] != "warn" {
						return fmt.Errorf("LOG_LEVEL is %q", configMap.Data["LOG_LEVEL"])
					}
					return errors.Join(err, installed(d.Namespace, d.Name)(ctx))
				}
			},
		},
		"deletion": {
			prepare: true,
			act: func(t *testing.T, d *v1alpha1.Darkroom) {
				remove(t, d)
			},
			done: gone,
		},
	}
	for name, test := range acts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const limit = 40 // more writes than an act has
			step := 1
			if testing.Short() {
				step = 4
			}
			for writes := 0; writes < limit; writes += step {
				if killedAt(t, writes, test.prepare, test.act, test.done) {
					t.Logf("%s: it ended before write %d", name, writes+1)
					if writes == 0 {
						t.Error("it was never killed")
					}
					return
				}
			}
			t.Errorf("an act of more than %d writes", limit)
		})
	}
}

// killedAt lets an operator make some writes, then none, and has another one
// finish. It reports whether the first one had finished already.
func killedAt(t *testing.T, writes int, prepare bool, act func(*testing.T, *v1alpha1.Darkroom), done func(*v1alpha1.Darkroom) func(context.Context) error) bool {
	t.Helper()
	namespace := newNamespace(t)
	darkroom := webFolder(namespace, "photos")
	if prepare {
		healthy := startOperator(t, namespace)
		create(t, darkroom)
		eventually(t, "the release", installed(namespace, "photos"))
		eventually(t, "quiet", quietShortly(healthy))
		healthy.kill()
	}

	var left atomic.Int64
	left.Store(int64(writes))
	var dead atomic.Bool
	doomed := startOperator(t, namespace, withTransport(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(request *http.Request) (*http.Response, error) {
			if request.Method != http.MethodGet && left.Add(-1) < 0 {
				dead.Store(true)
			}
			if dead.Load() && request.URL.Query().Get("watch") == "" {
				return nil, errKilled
			}
			return next.RoundTrip(request)
		})
	}))
	act(t, darkroom)
	eventually(t, "death or success", func(ctx context.Context) error {
		if dead.Load() {
			return nil
		}
		return done(darkroom)(ctx)
	})
	finished := !dead.Load()
	doomed.kill()

	startOperator(t, namespace)
	eventually(t, fmt.Sprintf("recovery from a kill before write %d", writes+1), done(darkroom))
	if secrets := pendingReleases(t, namespace); len(secrets) > 0 {
		t.Errorf("killed before write %d: left pending: %v", writes+1, secrets)
	}
	return finished
}

func quietShortly(o *operator) func(context.Context) error {
	return func(context.Context) error {
		before := o.requests.count.Load()
		time.Sleep(200 * time.Millisecond)
		if after := o.requests.count.Load(); after != before {
			return fmt.Errorf("%d requests within a moment", after-before)
		}
		return nil
	}
}

func pendingReleases(t *testing.T, namespace string) []string {
	t.Helper()
	list := &corev1.SecretList{}
	if err := kube.List(t.Context(), list, inNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	var pending []string
	for _, secret := range list.Items {
		if strings.HasPrefix(secret.Labels["status"], "pending") {
			pending = append(pending, secret.Name)
		}
	}
	return pending
}
