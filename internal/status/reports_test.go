package status

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

// deployed is a report of the Helm controller.
func deployed(reason string) v1alpha1.DarkroomStatus {
	return v1alpha1.DarkroomStatus{
		DeployedRelease: &v1alpha1.DeployedRelease{Name: "photos"},
		Conditions:      []v1alpha1.Condition{{Type: v1alpha1.ConditionDeployed, Status: metav1.ConditionTrue, Reason: reason}},
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
	reports.OnReport(func(key types.NamespacedName) { woken = append(woken, key) })
	reports.Report(cachedAs("1", ""), deployed("Installed"))
	if diff := cmp.Diff([]types.NamespacedName{{Namespace: "team-a", Name: "photos"}}, woken); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAReportIsShownUntilItIsWritten(t *testing.T) {
	reports := &Reports{}
	reports.Report(cachedAs("1", ""), deployed("Installed"))
	darkroom := cachedAs("1", "")
	stored, part := reports.refresh(darkroom)
	if part == nil || reasonOf(stored) != "" || reasonOf(darkroom.Status) != "Installed" || darkroom.Status.Phase != v1alpha1.PhaseDeploying {
		t.Fatalf("stored %+v, shown %+v", stored, darkroom.Status)
	}
	reports.done(darkroom, part, &darkroom.Status, "5")

	stale := cachedAs("4", "")
	if stored, part = reports.refresh(stale); part != nil || reasonOf(stored) != "Installed" {
		t.Errorf("the cache does not show the write yet: stored %+v, report %+v", stored, part)
	}
	fresh := cachedAs("5", "ChangedByAnother")
	if stored, part = reports.refresh(fresh); part != nil || reasonOf(stored) != "ChangedByAnother" {
		t.Errorf("the cache shows the write: stored %+v, report %+v", stored, part)
	}
	if len(reports.known) > 0 {
		t.Errorf("it is still remembered: %+v", reports.known)
	}
}

// Without it, the status of each Darkroom would stay in memory.
func TestAWrittenStatusIsForgottenWhenTheCacheShowsIt(t *testing.T) {
	for name, test := range map[string]struct {
		cached    *v1alpha1.Darkroom
		forgotten bool
	}{
		"stale":  {cachedAs("4", ""), false},
		"shown":  {cachedAs("5", ""), true},
		"newer":  {cachedAs("6", ""), true},
		"others": {darkrooms.New("photos", "team-b").Obj(), false},
	} {
		reports := &Reports{}
		reports.done(cachedAs("1", ""), nil, &v1alpha1.DarkroomStatus{}, "5")
		reports.Seen(test.cached)
		if (len(reports.known) == 0) != test.forgotten {
			t.Errorf("%s: remembered %+v", name, reports.known)
		}
	}
	t.Run("but not a report", func(t *testing.T) {
		reports := &Reports{}
		reports.done(cachedAs("1", ""), nil, &v1alpha1.DarkroomStatus{}, "5")
		reports.Report(cachedAs("1", ""), deployed("Installed"))
		reports.Seen(cachedAs("5", ""))
		if _, part := reports.refresh(cachedAs("5", "")); part == nil {
			t.Error("the report is lost")
		}
	})
	t.Run("and not remembered of a Darkroom that is gone", func(t *testing.T) {
		reports := &Reports{}
		reports.done(cachedAs("1", ""), nil, &v1alpha1.DarkroomStatus{}, "")
		if len(reports.known) > 0 {
			t.Errorf("remembered %+v", reports.known)
		}
	})
}

// Otherwise the second report would be taken for what is stored, and never be written.
func TestAReportLikeTheStaleCacheIsWritten(t *testing.T) {
	reports := &Reports{}
	reports.Report(cachedAs("1", "A"), deployed("B"))
	darkroom := cachedAs("1", "A")
	_, part := reports.refresh(darkroom)
	reports.done(darkroom, part, &darkroom.Status, "5")

	reports.Report(cachedAs("1", "A"), deployed("A"))
	stale := cachedAs("1", "A")
	if stored, _ := reports.refresh(stale); !changed(stale.Status, stored) {
		t.Error("it does not count as a change")
	}
}

func TestAReportDuringAWriteIsNotLost(t *testing.T) {
	reports := &Reports{}
	reports.Report(cachedAs("1", ""), deployed("Installed"))
	darkroom := cachedAs("1", "")
	_, part := reports.refresh(darkroom)
	reports.Report(cachedAs("1", ""), deployed("Upgraded"))
	reports.done(darkroom, part, &darkroom.Status, "5")

	now := cachedAs("5", "Installed")
	if _, part := reports.refresh(now); part == nil || reasonOf(now.Status) != "Upgraded" {
		t.Errorf("shown %+v", now.Status)
	}
}

func TestAReportOnADeletedDarkroomOfTheNameIsDropped(t *testing.T) {
	reports := &Reports{}
	reports.Report(cachedAs("1", ""), deployed("Installed"))
	recreated := cachedAs("9", "")
	recreated.UID = "another"
	if _, part := reports.refresh(recreated); part != nil || len(reports.known) > 0 {
		t.Errorf("report %+v, remembered %+v", part, reports.known)
	}
}

// A Darkroom that cannot be translated is reported before the cache shows its claim.
func TestAReportOnADarkroomIsKeptUntilTheCacheShowsTheClaim(t *testing.T) {
	for name, test := range map[string]struct {
		installation string
		kept         bool
	}{
		"without a claim": {"", true},
		"of another":      {"elsewhere", false},
	} {
		darkroom := darkrooms.New("photos", "team-a").UID("0c5f").Obj()
		if test.installation != "" {
			darkroom.Annotations = map[string]string{v1alpha1.AnnotationInstallation: test.installation}
		}
		scheme := runtime.NewScheme()
		if err := v1alpha1.AddToScheme(scheme); err != nil {
			t.Fatal(err)
		}
		reconciler := &Reconciler{
			Client:  fake.NewClientBuilder().WithScheme(scheme).WithObjects(darkroom).Build(),
			Handles: func(*v1alpha1.Darkroom) bool { return false },
			Reports: &Reports{},
		}
		reconciler.Reports.Report(darkroom, deployed("Installed"))
		if _, err := reconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(darkroom)}); err != nil {
			t.Fatal(err)
		}
		if _, part := reconciler.Reports.refresh(darkroom); (part != nil) != test.kept {
			t.Errorf("%s: the report is %+v", name, part)
		}
	}
}
