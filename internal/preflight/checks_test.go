package preflight

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/probe"
)

// world is a cluster in which the pods of checks become ready at once, or never.
type world struct {
	mu      sync.Mutex
	outcome probe.Outcome
	// deployment is what the cache shows of each check; nil means not found.
	deployment *appsv1.Deployment
	pods       []client.Object
	startErr   error
	// present are the Deployments that are there, most the greatest number at one time.
	present []string
	most    int
	probes  int
	woken   []types.NamespacedName
}

var (
	served  = probe.Outcome{Reason: v1alpha1.ReasonImageServed}
	refused = probe.Outcome{Reason: v1alpha1.ReasonSourceDenied, Message: "HTTP 403"}
)

func readyWorld(outcome probe.Outcome) *world {
	podLabels := map[string]string{"app": "check"}
	return &world{
		outcome: outcome,
		deployment: &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{UID: "started"},
			Spec:       appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: podLabels}},
			Status:     appsv1.DeploymentStatus{ReadyReplicas: 1},
		},
		pods: []client.Object{&corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "pod", Labels: podLabels},
			Status: corev1.PodStatus{
				PodIP:      "10.0.0.7",
				Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}},
			},
		}},
	}
}

func (w *world) checks(t *testing.T, limit int) *Checks {
	t.Helper()
	checks := New(t.Context(), Options{
		Deployment: func(_ context.Context, key types.NamespacedName) (*appsv1.Deployment, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.deployment == nil {
				return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "deployments"}, key.Name)
			}
			return w.deployment, nil
		},
		Pods: fake.NewClientBuilder().WithObjects(w.pods...).Build(),
		Probe: func(context.Context, *corev1.Pod, probe.Target) probe.Outcome {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.probes++
			return w.outcome
		},
		Limit: limit,
		Clock: clock.RealClock{},
	})
	checks.Changed = func(keys []types.NamespacedName) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.woken = append(w.woken, keys...)
	}
	return checks
}

func (w *world) change(name, id string) Change {
	return Change{
		ID: id, Target: probe.Target{FailureThreshold: 2},
		Start: func(context.Context) (Identity, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			if w.startErr != nil {
				return Identity{}, w.startErr
			}
			w.present = append(w.present, name)
			w.most = max(w.most, len(w.present))
			return Identity{NamespacedName: types.NamespacedName{Name: name}, UID: "started"}, nil
		},
		Remove: func(context.Context) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.present = slices.DeleteFunc(w.present, func(p string) bool { return p == name })
			return nil
		},
	}
}

var photos = types.NamespacedName{Namespace: "shop", Name: "photos"}

func TestVerdicts(t *testing.T) {
	pending := func(w *world) { w.deployment.Status.ReadyReplicas = 0 }
	waiting := func(reason string) func(*world) {
		return func(w *world) {
			pending(w)
			pod := w.pods[0].(*corev1.Pod) //nolint:forcetypeassert // the only one
			pod.Status = corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
				State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: "why"}},
			}}}
		}
	}
	for name, test := range map[string]struct {
		arrange func(*world)
		outcome probe.Outcome
		want    State
		reason  string
		within  time.Duration
		probes  int
	}{
		"served":            {outcome: served, want: Served, within: time.Second, probes: 1},
		"refused":           {outcome: refused, want: Failed, reason: v1alpha1.ReasonSourceDenied, within: 5 * time.Second, probes: 2},
		"never ready":       {arrange: pending, want: Failed, reason: v1alpha1.ReasonPreflightFailed, within: StartTimeout + 10*time.Second},
		"crashes":           {arrange: waiting("CrashLoopBackOff"), want: Failed, reason: v1alpha1.ReasonPodsFailing, within: 20 * time.Second},
		"cannot be pulled":  {arrange: waiting("ImagePullBackOff"), want: Failed, reason: v1alpha1.ReasonImagePullFailed, within: StartTimeout + 10*time.Second},
		"cannot be created": {arrange: func(w *world) { w.startErr = errors.New("no") }, want: Failed, reason: v1alpha1.ReasonPreflightFailed, within: time.Second},
		"deleted":           {arrange: func(w *world) { w.deployment = nil }, want: Failed, reason: v1alpha1.ReasonPreflightFailed, within: 20 * time.Second},
		"replaced":          {arrange: func(w *world) { w.deployment.UID = "another" }, want: Failed, reason: v1alpha1.ReasonPreflightFailed, within: 20 * time.Second},
		"over the quota": {
			arrange: func(w *world) {
				pending(w)
				w.deployment.Status.Conditions = []appsv1.DeploymentCondition{{
					Type: appsv1.DeploymentReplicaFailure, Status: corev1.ConditionTrue, Message: "exceeded quota",
				}}
			},
			want: Failed, reason: v1alpha1.ReasonPodsRefused, within: 20 * time.Second,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := readyWorld(test.outcome)
				if test.arrange != nil {
					test.arrange(w)
				}
				checks := w.checks(t, 1)
				if verdict := checks.Check(photos, w.change("photos", "a")); verdict.State != Running {
					t.Errorf("the state is %d at first, want running", verdict.State)
				}
				time.Sleep(test.within)
				synctest.Wait()
				verdict, found := checks.Verdict(photos)
				if !found || verdict.State != test.want || verdict.Reason != test.reason {
					t.Errorf("within %s the verdict is %+v (%t), want state %d with reason %s", test.within, verdict, found, test.want, test.reason)
				}
				w.mu.Lock()
				defer w.mu.Unlock()
				if w.probes != test.probes || len(w.present) > 0 || !slices.Contains(w.woken, photos) {
					t.Errorf("%d probes, want %d; left: %v; woken: %v", w.probes, test.probes, w.present, w.woken)
				}
			})
		})
	}
}

func TestAFailedChangeIsCheckedAgainAfterAGrowingPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := readyWorld(refused)
		checks := w.checks(t, 1)
		var pauses []time.Duration
		for range 7 {
			checks.Check(photos, w.change("photos", "a"))
			time.Sleep(10 * time.Second) // two probes
			verdict, _ := checks.Verdict(photos)
			pauses = append(pauses, time.Until(verdict.Retry).Round(time.Minute/2))
			if _, known := checks.Known(photos, "a"); !known {
				t.Fatalf("it is due at once: %+v", verdict)
			}
			time.Sleep(time.Until(verdict.Retry))
			if _, known := checks.Known(photos, "a"); known {
				t.Fatalf("it is not due after its pause: %+v", verdict)
			}
		}
		if !slices.IsSorted(pauses) || pauses[0] > retryLeast || pauses[6] > retryMost || pauses[6] < retryMost-time.Minute {
			t.Errorf("the pauses are %v", pauses)
		}
		// While it is repeated, the reason stays.
		if verdict := checks.Check(photos, w.change("photos", "a")); verdict.State != Running || verdict.Reason == "" {
			t.Errorf("the verdict is %+v", verdict)
		}
		// Another change is another check.
		if verdict := checks.Check(photos, w.change("photos", "b")); verdict.Reason != "" {
			t.Errorf("the verdict of another change is %+v", verdict)
		}
		time.Sleep(time.Minute)
	})
}

func TestChecksWaitForTheirTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := readyWorld(refused)
		checks := w.checks(t, 2)
		key := func(i int) types.NamespacedName { return types.NamespacedName{Name: fmt.Sprintf("photos-%d", i)} }
		states := map[State]int{}
		for i := range 6 {
			states[checks.Check(key(i), w.change(key(i).Name, "a")).State]++
		}
		if states[Running] != 2 || states[Waiting] != 4 {
			t.Errorf("the states are %v", states)
		}
		checks.Forget(key(0)) // that of a Darkroom that is deleted frees its place
		checks.Forget(key(2)) // one that waits does not block those behind it
		time.Sleep(time.Millisecond)
		synctest.Wait()
		w.mu.Lock()
		woken := slices.Clone(w.woken)
		w.mu.Unlock()
		if !slices.Contains(woken, key(3)) || slices.Contains(woken, key(5)) {
			t.Errorf("woken are %v", woken)
		}
		for range 10 { // a controller that is woken again and again
			for i := range 6 {
				if i != 0 && i != 2 {
					checks.Check(key(i), w.change(key(i).Name, "a"))
				}
			}
			time.Sleep(5 * time.Second)
		}
		for i := range 6 {
			verdict, found := checks.Verdict(key(i))
			if i != 0 && i != 2 && verdict.Reason != v1alpha1.ReasonSourceDenied || found == (i == 0 || i == 2) {
				t.Errorf("%s: %+v (%t)", key(i), verdict, found)
			}
		}
		if w.most > 2 {
			t.Errorf("%d at one time", w.most)
		}
	})
}
