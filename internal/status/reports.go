package status

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
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
}

// HelmPart returns the part of a status that the Helm controller reports.
func HelmPart(status v1alpha1.DarkroomStatus) v1alpha1.DarkroomStatus {
	part := v1alpha1.DarkroomStatus{DeployedRelease: status.DeployedRelease, Conditions: make([]v1alpha1.Condition, 0, len(helmConditions))}
	for _, conditionType := range helmConditions {
		if condition := v1alpha1.FindCondition(status.Conditions, conditionType); condition != nil {
			part.Conditions = append(part.Conditions, *condition)
		}
	}
	return part
}

// withHelmPart returns a status with another report of the Helm controller.
func withHelmPart(status, part v1alpha1.DarkroomStatus) v1alpha1.DarkroomStatus {
	status.DeployedRelease = part.DeployedRelease
	others := slices.DeleteFunc(slices.Clone(status.Conditions), func(condition v1alpha1.Condition) bool {
		return slices.Contains(helmConditions, condition.Type)
	})
	status.Conditions = slices.Concat(part.Conditions, others)
	return status
}

// Reports passes the reports of the Helm controller to the status controller, which writes
// them together with its own in one request. It also remembers the last written status of
// a Darkroom while the cache does not show it. The zero value is ready for use.
//
// A report that is lost with the process is made again: the next operator reconciles every
// Darkroom.
type Reports struct {
	mu    sync.Mutex
	wake  func(types.NamespacedName)
	known map[types.NamespacedName]*pending
}

// pending is what the cache does not show yet of the status of a Darkroom.
type pending struct {
	uid types.UID
	// part is the last report of the Helm controller; nil once it is written.
	part *v1alpha1.DarkroomStatus
	// written is the status that was written last, as resourceVersion; nil once the cache
	// shows it.
	written         *v1alpha1.DarkroomStatus
	resourceVersion string
}

// OnReport sets the function that is called for each Darkroom with a new report.
func (r *Reports) OnReport(wake func(types.NamespacedName)) {
	r.mu.Lock()
	r.wake = wake
	r.mu.Unlock()
}

// Report passes a report of the Helm controller.
func (r *Reports) Report(darkroom *v1alpha1.Darkroom, part v1alpha1.DarkroomStatus) {
	key := client.ObjectKeyFromObject(darkroom)
	r.mu.Lock()
	r.of(key, darkroom.UID).part = &part
	wake := r.wake
	r.mu.Unlock()
	if wake != nil {
		wake(key)
	}
}

// Refresh sets the status of a Darkroom from the cache to the status that was written last,
// if that is newer, and adds the last report of the Helm controller.
func (r *Reports) Refresh(darkroom *v1alpha1.Darkroom) {
	r.refresh(darkroom)
}

// refresh is Refresh. It returns the status without the report, and the report; nil if
// there is none to be written.
func (r *Reports) refresh(darkroom *v1alpha1.Darkroom) (stored v1alpha1.DarkroomStatus, part *v1alpha1.DarkroomStatus) {
	key := client.ObjectKeyFromObject(darkroom)
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.known[key]
	if known == nil || known.uid != darkroom.UID {
		delete(r.known, key)
		return darkroom.Status, nil
	}
	if known.written != nil {
		if isOlder(darkroom.ResourceVersion, known.resourceVersion) {
			darkroom.Status = *known.written.DeepCopy()
		} else {
			known.written = nil
		}
	}
	stored, part = darkroom.Status, known.part
	switch {
	case part != nil:
		darkroom.Status = withHelmPart(stored, *part.DeepCopy())
	case known.written == nil:
		delete(r.known, key)
	}
	return stored, part
}

// isOlder reports whether the resourceVersion of a cached object is older than another one.
func isOlder(cached, other string) bool {
	order, err := resourceversion.CompareResourceVersion(cached, other)
	return err == nil && order < 0
}

// Seen forgets the last written status of a Darkroom if the cache shows it.
func (r *Reports) Seen(cached *v1alpha1.Darkroom) {
	key := client.ObjectKeyFromObject(cached)
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.known[key]
	if known == nil || known.written == nil || known.uid == cached.UID && isOlder(cached.ResourceVersion, known.resourceVersion) {
		return
	}
	known.written = nil
	if known.part == nil {
		delete(r.known, key)
	}
}

// done records that a report of the Helm controller is stored; nil for none. If a status
// was written for that, it is remembered with the Darkroom's new resourceVersion, which is
// empty if the Darkroom is gone.
func (r *Reports) done(darkroom *v1alpha1.Darkroom, part, written *v1alpha1.DarkroomStatus, resourceVersion string) {
	key := client.ObjectKeyFromObject(darkroom)
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.of(key, darkroom.UID)
	if known.part == part {
		known.part = nil
	}
	if written != nil && resourceVersion != "" {
		known.written, known.resourceVersion = written, resourceVersion
	}
	if known.part == nil && known.written == nil {
		delete(r.known, key)
	}
}

// of returns what is known of a Darkroom. The caller holds the lock.
func (r *Reports) of(key types.NamespacedName, uid types.UID) *pending {
	known := r.known[key]
	if known == nil || known.uid != uid {
		known = &pending{uid: uid}
		if r.known == nil {
			r.known = map[types.NamespacedName]*pending{}
		}
		r.known[key] = known
	}
	return known
}

// Forget drops what is known of a Darkroom that is gone, or handled by another
// installation.
func (r *Reports) Forget(key types.NamespacedName) {
	r.mu.Lock()
	delete(r.known, key)
	r.mu.Unlock()
}

// sameHelmPart reports whether two statuses have the same report of the Helm controller.
func sameHelmPart(a, b v1alpha1.DarkroomStatus) bool {
	return equality.Semantic.DeepEqual(HelmPart(a), HelmPart(b))
}
