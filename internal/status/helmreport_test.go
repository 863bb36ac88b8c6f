package status

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/property"
)

// Each condition belongs to exactly one report. A report is complete as long as the status contains all of its
// conditions and its release.
func TestAReportIsPartOfAStatusThatHasAllOfIt(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		all := slices.Concat(helmConditions, ownConditions)
		var status v1alpha1.DarkroomStatus
		for _, conditionType := range rapid.SliceOfDistinct(rapid.SampledFrom(all), rapid.ID[string]).Draw(t, "conditions") {
			status.Conditions = append(status.Conditions, v1alpha1.Condition{Type: conditionType, Status: metav1.ConditionTrue})
		}
		if rapid.Bool().Draw(t, "deployed") {
			status.DeployedRelease = &v1alpha1.DeployedRelease{Name: "photos"}
		}
		report := HelmReportOf(status)
		if own := written(status); len(report.Conditions)+len(own.Conditions) != len(status.Conditions) ||
			own.DeployedRelease != nil {
			t.Fatalf("status %+v: got the report %+v of Helm and %+v of the status controller", status, report, own)
		}
		if !report.IsPartOf(status) {
			t.Fatalf("report %+v is not part of its own status", report)
		}
		for i := range report.Conditions {
			lost := *status.DeepCopy()
			lost.Conditions = slices.DeleteFunc(lost.Conditions,
				func(c v1alpha1.Condition) bool { return c.Type == report.Conditions[i].Type })
			if report.IsPartOf(lost) || report.Equal(HelmReportOf(lost)) {
				t.Fatalf("the loss of condition %s is not detected", report.Conditions[i].Type)
			}
		}
		if status.DeployedRelease = nil; report.DeployedRelease != nil && report.IsPartOf(status) {
			t.Fatal("the loss of the release is not detected")
		}
	})
}

// Decisions depend on the previous status, for example whether pods were lost. After a restore of etcd, versions may be
// lower than before.
func TestNoDecisionIsBasedOnAStatusOlderThanTheLastWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		versions := []string{"5", "5", "3"}
		stale := interceptor.Funcs{Get: func(_ context.Context, _ client.WithWatch, _ client.ObjectKey, object client.Object,
			_ ...client.GetOption,
		) error {
			object.SetResourceVersion(versions[0])
			if len(versions) > 1 {
				versions = versions[1:]
			}
			return nil
		}}
		reconciler := &Reconciler{Client: interceptor.NewClient(fake.NewClientBuilder().Build(), stale)}
		if err := reconciler.awaitCache(t.Context(), types.NamespacedName{}, "5", "6"); err != nil || len(versions) != 1 {
			t.Errorf("got %d remaining versions (%v)", len(versions), err)
		}
		err := reconciler.awaitCache(t.Context(), types.NamespacedName{}, "3", "4")
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a cache that lags: got error %v", err)
		}
		if err := reconciler.awaitCache(t.Context(), types.NamespacedName{}, "3", "3"); err != nil {
			t.Errorf("a write that changed nothing: got error %v", err)
		}
	})
}

// reconcilerOfOthers returns a reconciler that does not handle any of the cached Darkrooms.
func reconcilerOfOthers(t *testing.T, objects ...client.Object) *Reconciler {
	t.Helper()
	scheme := runtime.NewScheme()
	expect.NoError(t, v1alpha1.AddToScheme(scheme))
	return &Reconciler{
		Client:  fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build(),
		Handles: func(*v1alpha1.Darkroom) bool { return false },
	}
}
