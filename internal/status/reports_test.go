package status

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

// deployed is a report of the Helm controller.
func deployed(reason string) v1alpha1.DarkroomStatus {
	return v1alpha1.DarkroomStatus{
		DeployedRelease: &v1alpha1.DeployedRelease{Name: "photos"},
		Conditions: []v1alpha1.Condition{{
			Type:   v1alpha1.ConditionDeployed,
			Status: metav1.ConditionTrue, Reason: reason,
		}},
	}
}

// cachedAs returns a Darkroom as the cache shows it.
func cachedAs(version, reason string) *v1alpha1.Darkroom {
	darkroom := darkrooms.New("photos", "team-a").UID("0c5f").Obj()
	darkroom.ResourceVersion = version
	darkroom.Status = v1alpha1.DarkroomStatus{Phase: v1alpha1.PhaseDeploying}
	if reason != "" {
		darkroom.Status = withHelmPart(darkroom.Status, deployed(reason))
	}
	return darkroom
}

func reasonOf(status v1alpha1.DarkroomStatus) string {
	if found := v1alpha1.FindCondition(status.Conditions, v1alpha1.ConditionDeployed); found != nil {
		return found.Reason
	}
	return ""
}

func TestAReportWakesTheStatusController(t *testing.T) {
	reports, woken := &Reports{}, []types.NamespacedName(nil)
	reports.Report(cachedAs("1", ""), deployed("Installed")) // before the controller starts
	reports.OnReport(func(keys ...types.NamespacedName) { woken = append(woken, keys...) })
	reports.Report(cachedAs("1", ""), deployed("Installed"))
	expect.Equal(t, "those woken", []types.NamespacedName{{Namespace: "team-a", Name: "photos"}}, woken)
}

func TestAReportIsShownUntilTheCacheShowsIt(t *testing.T) {
	reports := &Reports{}
	reports.Report(cachedAs("1", ""), deployed("Installed"))
	darkroom := cachedAs("1", "")
	stored, part := reports.Refresh(darkroom)
	if part == nil || reasonOf(stored) != "" || reasonOf(darkroom.Status) != "Installed" ||
		darkroom.Status.Phase != v1alpha1.PhaseDeploying {
		t.Fatalf("stored %+v, shown %+v", stored, darkroom.Status)
	}
	reports.Report(cachedAs("1", ""), deployed("Upgraded"))
	reports.done(darkroom, part)
	later := cachedAs("5", "Installed")
	if _, part = reports.Refresh(later); part == nil || reasonOf(later.Status) != "Upgraded" {
		t.Errorf("a report during the write is lost: shown %+v", later.Status)
	}
	reports.done(later, part)
	if _, part = reports.Refresh(later); part != nil || len(reports.known) > 0 {
		t.Errorf("it is still remembered: %+v", reports.known)
	}

	reports.Report(cachedAs("1", ""), deployed("Installed"))
	recreated := cachedAs("9", "")
	recreated.UID = "another"
	if _, part := reports.Refresh(recreated); part != nil || len(reports.known) > 0 {
		t.Errorf("a report on a deleted Darkroom of the name: report %+v, remembered %+v", part, reports.known)
	}
}

// Decisions depend on the status before, such as whether pods were lost. After a restore of etcd the
// versions are lower than before.
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
			t.Errorf("%d versions are left: %v", len(versions), err)
		}
		err := reconciler.awaitCache(t.Context(), types.NamespacedName{}, "3", "4")
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a cache that does not follow: %v", err)
		}
		if err := reconciler.awaitCache(t.Context(), types.NamespacedName{}, "3", "3"); err != nil {
			t.Errorf("a write that changed nothing: %v", err)
		}
	})
}

// reconcilerOfOthers handles none of the Darkrooms in its cache.
func reconcilerOfOthers(t *testing.T, objects ...client.Object) *Reconciler {
	t.Helper()
	scheme := runtime.NewScheme()
	expect.NoError(t, v1alpha1.AddToScheme(scheme))
	return &Reconciler{
		Client:  fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build(),
		Handles: func(*v1alpha1.Darkroom) bool { return false },
		Reports: &Reports{},
	}
}

// A Darkroom that cannot be translated is reported before the cache shows its claim.
func TestAReportOnADarkroomIsKeptUntilTheCacheShowsTheClaim(t *testing.T) {
	unclaimed := func() *darkrooms.Builder { return darkrooms.New("photos", "team-a").UID("0c5f") }
	for name, test := range map[string]struct {
		darkroom *v1alpha1.Darkroom
		kept     bool
	}{
		"without a claim": {unclaimed().Obj(), true},
		"of another":      {unclaimed().Annotation(v1alpha1.AnnotationInstallation, "elsewhere").Obj(), false},
	} {
		reconciler := reconcilerOfOthers(t, test.darkroom)
		reconciler.Reports.Report(test.darkroom, deployed("Installed"))
		_, err := reconciler.Reconcile(t.Context(),
			reconcile.Request{NamespacedName: client.ObjectKeyFromObject(test.darkroom)})
		if err != nil {
			t.Fatal(err)
		}
		if _, part := reconciler.Reports.Refresh(test.darkroom); (part != nil) != test.kept {
			t.Errorf("%s: the report is %+v", name, part)
		}
	}
}
