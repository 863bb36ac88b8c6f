package controller_test

import (
	"context"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/controller"
)

const (
	// unchangedAllocations is the maximum number of allocations of a reconcile without changes.
	unchangedAllocations = 1400
	// raceAllocations is the allowance for the race detector, which was observed to add 60.
	raceAllocations = 150
)

func TestAnUnchangedDarkroomAllocatesLittle(t *testing.T) {
	look := unchanged(t)
	limit := unchangedAllocations
	build, _ := debug.ReadBuildInfo()
	if slices.Contains(build.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		limit += raceAllocations
	}
	if got := testing.AllocsPerRun(200, look); got > float64(limit) {
		t.Errorf("got %.0f allocations, want at most %d", got, limit)
	}
}

func BenchmarkUnchangedDarkroom(b *testing.B) {
	look := unchanged(b)
	b.ReportAllocs()
	for b.Loop() {
		look()
	}
}

// unchanged installs a Darkroom and returns a function that reconciles it without finding a change.
func unchanged(tb testing.TB) func() {
	tb.Helper()
	installer, darkroom := startWithPhotos(tb)
	namespace := darkroom.Namespace
	// While pods start, the status has one more condition.
	becomeReady(tb, namespace, darkroom.Name)
	eventuallyStatus(tb, darkroom, "ready", isReady())
	installer.kill()

	var reconciler reconcile.Reconciler
	startOperator(tb, namespace, func(s *settings) {
		s.add = func(ctx context.Context, mgr manager.Manager, options controller.Options) (err error) {
			reconciler, err = controller.NewHelmReconciler(ctx, mgr, options)
			return err
		}
	})
	request := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: "photos"}}
	look := func() {
		if _, err := reconciler.Reconcile(tb.Context(), request); err != nil {
			tb.Fatal(err)
		}
	}
	look() // the first reconcile of a process verifies everything
	return look
}

func TestAChangeWritesOnlyTheObjectsThatItChanges(t *testing.T) {
	t.Parallel()
	o, darkroom := startWithPhotos(t)
	eventually(t, "rest", quiet(o))
	before, began := len(o.requests()), time.Now()
	upgrade(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.Source.BaseURL = "https://example.com/others" })
	upgraded := time.Since(began)
	eventually(t, "rest", quiet(o))

	found := map[string]int{}
	for _, line := range o.requests()[before:] {
		found[kindOf(line)]++
	}
	want := map[string]int{
		"PATCH configmaps": 1, "PATCH deployments": 1,
		"GET secrets":  2, // 2 if the cache lags at the reconcile after the upgrade
		"POST secrets": 1, "PATCH secrets": 2, "POST controllerrevisions": 1,
		"PUT leases":             1, // written again for the new spec
		"PATCH darkrooms/status": 3, // by the Helm controller, at the start and at the end of the rollout
		"POST events":            1,
	}
	if upgraded > 4*time.Second { // nearly five, after which the status reports that the change is being applied
		want["PATCH darkrooms/status"]++
	}
	for kind, count := range found {
		if count > want[kind] {
			t.Errorf("got %d × %s, want %d", count, kind, want[kind])
		}
	}
}

// kindOf returns the verb, resource and subresource of a request with the path
// /apis/<group>/<version>/namespaces/<namespace>/<resource>/<name>/<subresource>.
func kindOf(request string) string {
	method, path, _ := strings.Cut(request, " ")
	_, path, namespaced := strings.Cut(path, "/namespaces/")
	parts := strings.Split(path, "/")
	if !namespaced || len(parts) < 2 {
		return request
	}
	kind := method + " " + parts[1]
	if len(parts) > 3 {
		kind += "/" + parts[3]
	}
	return kind
}
