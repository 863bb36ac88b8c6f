package status

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// helmConditions are the conditions that the Helm controller reports.
var helmConditions = []string{
	v1alpha1.ConditionInitialized,
	v1alpha1.ConditionDeployed,
	v1alpha1.ConditionReleaseFailed,
	v1alpha1.ConditionIrreconcilable,
	v1alpha1.ConditionPaused,
	v1alpha1.ConditionContested,
	v1alpha1.ConditionRolloutQueued,
}

// HelmPart returns the part of a status that the Helm controller reports.
func HelmPart(status v1alpha1.DarkroomStatus) v1alpha1.DarkroomStatus {
	return v1alpha1.DarkroomStatus{
		DeployedRelease: status.DeployedRelease,
		Conditions:      conditionsOf(status, helmConditions),
	}
}

// conditionsOf returns the conditions of some types, in their order.
func conditionsOf(status v1alpha1.DarkroomStatus, types []string) []v1alpha1.Condition {
	found := make([]v1alpha1.Condition, 0, len(types))
	for _, conditionType := range types {
		if condition := v1alpha1.FindCondition(status.Conditions, conditionType); condition != nil {
			found = append(found, *condition)
		}
	}
	return found
}

// withHelmPart returns a status with another report of the Helm controller.
func withHelmPart(status, part v1alpha1.DarkroomStatus) v1alpha1.DarkroomStatus {
	status.DeployedRelease = part.DeployedRelease
	status.Conditions = slices.Concat(part.Conditions, conditionsOf(status, ownConditions))
	return status
}

// Reports passes the reports of the Helm controller to the status controller, which writes
// them together with its own in one request. The zero value is ready for use.
//
// A report that is lost with the process is made again: the next operator reconciles every
// Darkroom.
type Reports struct {
	mu    sync.Mutex
	wake  func(...types.NamespacedName)
	known map[types.NamespacedName]report
}

// report is the last report of the Helm controller on a Darkroom, until it is written.
type report struct {
	uid  types.UID
	part *v1alpha1.DarkroomStatus
}

// OnReport sets the function that is called for each Darkroom with a new report.
func (r *Reports) OnReport(wake func(...types.NamespacedName)) {
	r.mu.Lock()
	r.wake = wake
	r.mu.Unlock()
}

// Report passes a report of the Helm controller.
func (r *Reports) Report(darkroom *v1alpha1.Darkroom, part v1alpha1.DarkroomStatus) {
	key := client.ObjectKeyFromObject(darkroom)
	r.mu.Lock()
	if r.known == nil {
		r.known = map[types.NamespacedName]report{}
	}
	r.known[key] = report{uid: darkroom.UID, part: &part}
	wake := r.wake
	r.mu.Unlock()
	if wake != nil {
		wake(key)
	}
}

// Refresh adds the last report of the Helm controller to the status of a Darkroom. It returns
// the status without the report, and the report; nil if there is none to be written.
func (r *Reports) Refresh(darkroom *v1alpha1.Darkroom) (stored v1alpha1.DarkroomStatus, part *v1alpha1.DarkroomStatus) {
	key := client.ObjectKeyFromObject(darkroom)
	r.mu.Lock()
	defer r.mu.Unlock()
	stored = darkroom.Status
	known, found := r.known[key]
	if !found || known.uid != darkroom.UID {
		delete(r.known, key)
		return stored, nil
	}
	darkroom.Status = withHelmPart(stored, *known.part.DeepCopy())
	return stored, known.part
}

// done records that the cache shows a report, unless another has followed.
func (r *Reports) done(darkroom *v1alpha1.Darkroom, part *v1alpha1.DarkroomStatus) {
	key := client.ObjectKeyFromObject(darkroom)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known[key].part == part {
		delete(r.known, key)
	}
}

// Forget drops what is known of a Darkroom that is gone, or handled by another
// installation.
func (r *Reports) Forget(key types.NamespacedName) {
	r.mu.Lock()
	delete(r.known, key)
	r.mu.Unlock()
}
