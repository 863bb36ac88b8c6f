package status

import (
	"context"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// HelmFieldManager is the field manager of the part of the status that the Helm controller reports.
const HelmFieldManager = "darkroom-helm"

// helmPatience is the time that the status controller waits for the Helm controller's report on a change before it
// reports that the change is being applied. The report usually takes milliseconds.
const helmPatience = 5 * time.Second

// helmCacheTimeout is the maximum time to wait until the cache shows a report. A reconcile before that causes an
// unnecessary write.
const helmCacheTimeout = time.Second

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

// HelmReport is the part of the status that the Helm controller reports.
type HelmReport struct {
	DeployedRelease *v1alpha1.DeployedRelease `json:"deployedRelease,omitempty"`
	Conditions      []v1alpha1.Condition      `json:"conditions,omitempty"`
}

// HelmReportOf returns the report of the Helm controller in a status.
func HelmReportOf(status v1alpha1.DarkroomStatus) HelmReport {
	return HelmReport{
		DeployedRelease: status.DeployedRelease,
		Conditions:      conditionsOf(status, helmConditions),
	}
}

// Equal reports whether two reports are equal.
func (r HelmReport) Equal(other HelmReport) bool { return equality.Semantic.DeepEqual(r, other) }

// IsPartOf reports whether a status contains the release and all condition types of the report, with any values.
func (r HelmReport) IsPartOf(status v1alpha1.DarkroomStatus) bool {
	return (r.DeployedRelease == nil || status.DeployedRelease != nil) &&
		!slices.ContainsFunc(r.Conditions, func(condition v1alpha1.Condition) bool {
			return v1alpha1.FindCondition(status.Conditions, condition.Type) == nil
		})
}

// Apply writes the report into the status of a Darkroom, unless the Darkroom is gone. It waits briefly until the cache
// shows the report, because an earlier reconcile would write the report again.
func (r HelmReport) Apply(ctx context.Context, kube client.Client, darkroom *v1alpha1.Darkroom) error {
	if _, err := apply(ctx, kube, darkroom, HelmFieldManager, &r); err != nil {
		return err
	}
	_ = untilCached(ctx, kube, client.ObjectKeyFromObject(darkroom), helmCacheTimeout, func(cached *v1alpha1.Darkroom) bool {
		return cached.UID != darkroom.UID || HelmReportOf(cached.Status).Equal(r)
	})
	return nil
}

// conditionsOf returns the conditions of the given types, in the order of the types.
func conditionsOf(status v1alpha1.DarkroomStatus, types []string) []v1alpha1.Condition {
	found := make([]v1alpha1.Condition, 0, len(types))
	for _, conditionType := range types {
		if condition := v1alpha1.FindCondition(status.Conditions, conditionType); condition != nil {
			found = append(found, *condition)
		}
	}
	return found
}

// isEarly reports whether a Darkroom's status must wait for the Helm controller's report on the current generation,
// whose write wakes the status controller. again is the time after which the status is written without that report, to
// report that the change is being applied; 0 if the status already does. If the time of the last write of the spec is
// unknown, or in the future because of clock skew, the status does not wait.
func isEarly(darkroom *v1alpha1.Darkroom, now time.Time) (early bool, again time.Duration) {
	if darkroom.DeletionTimestamp != nil || v1alpha1.IsPaused(darkroom) ||
		reported(darkroom, v1alpha1.ConditionInitialized) != nil {
		return false, 0
	}
	if darkroom.Status.ObservedGeneration == darkroom.Generation {
		return true, 0
	}
	for _, writer := range v1alpha1.LastWriter(darkroom.ManagedFields) {
		if wait := writer.Time.Add(helmPatience).Sub(now); wait > 0 && wait <= helmPatience {
			return true, wait
		}
	}
	return false, 0
}
