//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

const (
	kills = 10
	// defaultSeed of the moments at which the operator is killed; E2E_SEED is another.
	defaultSeed = 20260101
	// killWithin is the longest time from a change to the kill.
	killWithin = 400 * time.Millisecond
	// killWithinOperation is the longest time from the first sign of an install or
	// upgrade, a revision that is pending, to the kill.
	killWithinOperation = 100 * time.Millisecond
)

// Not parallel: others need the operator.
func TestAKilledOperatorRecoversWithoutHelp(t *testing.T) {
	random, seed := newRandom(t)
	t.Logf("seed %d", seed)
	namespace := newNamespace(t)
	create(t, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "keys"},
		StringData: map[string]string{"accessKey": accessKey, "secretKey": secretKey},
	})
	// A failed test leaves an operator to the others.
	t.Cleanup(func() {
		if theOperator.ended() != nil || theOperator.expectedEnd() {
			if err := theOperator.start(context.Background()); err != nil {
				t.Error(err)
			}
		}
	})

	var all []*v1alpha1.Darkroom
	pendings := 0
	for n := range kills {
		pending := watchPending(t, namespace)
		what := "upgrade"
		if n%2 == 0 && len(all) < 6 {
			what = "install"
			for i := range 2 {
				darkroom := newDarkroom(namespace, fmt.Sprintf("killed-%d", len(all))).Source(sourceNumber(n + i)).Obj()
				create(t, darkroom)
				all = append(all, darkroom)
			}
		} else {
			for i, darkroom := range all {
				change(t, darkroom, func(d *v1alpha1.Darkroom) {
					d.Spec.Source = sourceNumber(n + i)
					d.Spec.Replicas = ptr.To(int32(1 + (n+i)/2%2)) // with two there is a PodDisruptionBudget
				})
			}
		}
		delay, since := time.Duration(random.Int64N(int64(killWithin))), "the change"
		if n%4 < 2 {
			delay, since = time.Duration(random.Int64N(int64(killWithinOperation))), "its first sign"
			pending.wait(t)
		}
		pending.Stop()
		killAfter(t, delay)
		statuses := releaseStatuses(t, namespace)
		t.Logf("kill %d, %s of %d, %s after %s: revisions %v", n+1, what, len(all), delay.Round(time.Millisecond), since, statuses)
		pendings += statuses["pending-install"] + statuses["pending-upgrade"]
		if n == kills-1 {
			break // the last one is started below
		}
		if n%3 == 2 {
			// Also while it starts, when its caches are empty.
			if err := theOperator.launch(); err != nil {
				t.Fatal(err)
			}
			killAfter(t, time.Duration(random.Int64N(int64(2*time.Second))))
		}
		if err := theOperator.start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d times a revision was left pending", pendings)
	if pendings == 0 {
		t.Error("no kill hit an operation under way: the moments are badly chosen")
	}

	started := time.Now()
	if err := theOperator.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, darkroom := range all {
		waitSettled(t, darkroom)
		waitExact(t, darkroom)
		waitServing(t, darkroom)
	}
	t.Logf("all %d Darkrooms are as they should be %.1fs after the last start", len(all), time.Since(started).Seconds())

	for _, darkroom := range all {
		if err := kube.Delete(t.Context(), darkroom); err != nil {
			t.Fatal(err)
		}
	}
	killAfter(t, time.Duration(random.Int64N(int64(killWithin))))
	left, err := objectsIn(t.Context(), namespace)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("killed during uninstall: %d objects are left", len(left))
	if err := theOperator.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "nothing is left", func(ctx context.Context) error {
		objects, err := objectsIn(ctx, namespace)
		if err != nil {
			return err
		}
		if got := names(objects); len(got) != 1 || got[0] != "Secret keys" {
			return fmt.Errorf("left: %q", got)
		}
		return nil
	})
}

// pendingWatch sees revisions become pending.
type pendingWatch struct{ watch.Interface }

// watchPending watches from now on.
func watchPending(t *testing.T, namespace string) pendingWatch {
	t.Helper()
	options := metav1.ListOptions{LabelSelector: "owner=helm,status in (pending-install,pending-upgrade)"}
	list, err := clientset.CoreV1().Secrets(namespace).List(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	options.ResourceVersion = list.ResourceVersion
	events, err := clientset.CoreV1().Secrets(namespace).Watch(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	return pendingWatch{events}
}

func (w pendingWatch) wait(t *testing.T) {
	t.Helper()
	timer := time.NewTimer(waitTimeout)
	defer timer.Stop()
	for {
		select {
		case event := <-w.ResultChan():
			// Deleted here means that a revision is pending no longer.
			if event.Type == watch.Added {
				return
			}
		case <-timer.C:
			t.Fatalf("no revision was pending within %s", waitTimeout)
		}
	}
}

func newRandom(t *testing.T) (*rand.Rand, uint64) {
	t.Helper()
	seed := uint64(defaultSeed)
	if text := os.Getenv("E2E_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("E2E_SEED: %v", err)
		}
	}
	return rand.New(rand.NewPCG(seed, 0)), seed
}

// sourceNumber goes round the sources; they differ in the objects that they need.
func sourceNumber(n int) v1alpha1.Source {
	switch n % 3 {
	case 0:
		return theSources.webFolder()
	case 1:
		return theSources.s3Inline(accessKey, secretKey)
	default:
		return theSources.s3Reference("keys")
	}
}

// killAfter kills the operator after a while. The time is the fault that is put in;
// nothing is waited for.
func killAfter(t *testing.T, delay time.Duration) {
	t.Helper()
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.Context().Done():
	}
	if err := errors.Join(theOperator.ended(), theOperator.kill()); err != nil {
		t.Fatal(err)
	}
}
