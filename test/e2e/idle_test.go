//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

const (
	idleDarkrooms = 20
	// idlePeriod is the operator's resync period during the test: short, so that
	// each Darkroom is looked at several times.
	idlePeriod = 15 * time.Second
)

// Not parallel: the operator is started with other flags.
func TestIdleDarkroomsAreNotWritten(t *testing.T) {
	window := time.Minute
	if text := os.Getenv("E2E_IDLE"); text != "" {
		var err error
		if window, err = time.ParseDuration(text); err != nil || window < 3*idlePeriod {
			t.Fatalf("E2E_IDLE=%s: must be a duration of at least %s (%v)", text, 3*idlePeriod, err)
		}
	}
	namespace := newNamespace(t)
	create(t, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "keys"},
		StringData: map[string]string{"accessKey": accessKey, "secretKey": secretKey},
	})
	var all []*v1alpha1.Darkroom
	for n := range idleDarkrooms {
		darkroom := newDarkroom(namespace, fmt.Sprintf("idle-%d", n)).Source(sourceNumber(n)).Replicas(int32(n % 2)).Obj()
		create(t, darkroom)
		all = append(all, darkroom)
	}
	for n, darkroom := range all {
		if n%2 == 1 {
			waitSettled(t, darkroom)
		} else {
			waitSaying(t, darkroom, metav1.ConditionTrue, v1alpha1.ReasonScaledToZero)
		}
	}

	before, _, err := versionsOf(t.Context(), namespace)
	if err != nil {
		t.Fatal(err)
	}
	// A verification past the caches writes, and after a start it may be due at any time.
	restartOperator(t, "--reconcile-period", idlePeriod.String(), "--verify-period", "0")
	t.Cleanup(func() { restartOperator(t) })
	unchanged := func(what string) {
		t.Helper()
		after, writers, err := versionsOf(t.Context(), namespace)
		if err == nil {
			err = differences(before, after, writers)
		}
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	// A new operator reads once what was recorded of each release.
	waitWarm(t)
	unchanged("restart of the operator")

	start := readMetrics(t)
	timer := time.NewTimer(window)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.Context().Done():
	}
	end := readMetrics(t)
	unchanged("idle for " + window.String())

	looks := end.helmReconciles - start.helmReconciles
	t.Logf("%d objects of %d Darkrooms unchanged for %s: %.0f looks, %.0f writes",
		len(before), idleDarkrooms, window, looks, end.writes-start.writes)
	if least := float64(idleDarkrooms) * float64(int(window/idlePeriod)-1); looks < least {
		t.Errorf("the operator looked %.0f times, less than %.0f: the test has shown nothing", looks, least)
	}
	if writes := end.writes - start.writes; writes > 0 {
		t.Errorf("the operator sent %.0f PUT, PATCH and DELETE requests", writes)
	}
}

func restartOperator(t *testing.T, flags ...string) {
	t.Helper()
	// At the end of a test its own context has ended.
	ctx := context.WithoutCancel(t.Context())
	if err := errors.Join(theOperator.stop(), theOperator.start(ctx, flags...)); err != nil {
		t.Fatal(err)
	}
}

// waitWarm waits until the operator has looked at every Darkroom of a round without
// a write: its memory of what is applied is complete.
func waitWarm(t *testing.T) {
	t.Helper()
	start := readMetrics(t)
	eventually(t, "the operator knows what is applied", func(context.Context) error {
		now := readMetrics(t)
		if now.writes > start.writes {
			start = now
		}
		if looks := now.helmReconciles - start.helmReconciles; looks < idleDarkrooms {
			return fmt.Errorf("%.0f looks since the last write", looks)
		}
		return nil
	})
}
