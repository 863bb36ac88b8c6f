package status

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// FieldManager owns the status.
const FieldManager = "darkroom-status"

// formerManager owned the report of the Helm controller while that was written separately.
const formerManager = "darkroom-helm"

// ownConditions are the conditions that this package determines.
var ownConditions = []string{
	v1alpha1.ConditionDomainsReady,
	v1alpha1.ConditionCredentialsReady,
	v1alpha1.ConditionSourceReady,
	v1alpha1.ConditionReady,
	v1alpha1.ConditionReconciling,
	v1alpha1.ConditionStalled,
}

// withTransitionTimes sets the transition time of each condition: now if its status
// changes, else the time that the resource has already.
func withTransitionTimes(conditions, current []v1alpha1.Condition, now time.Time) {
	for i := range conditions {
		before := v1alpha1.FindCondition(current, conditions[i].Type)
		if before != nil && before.Status == conditions[i].Status && !before.LastTransitionTime.IsZero() {
			conditions[i].LastTransitionTime = before.LastTransitionTime
		} else {
			conditions[i].LastTransitionTime = metav1.NewTime(now).Rfc3339Copy()
		}
	}
}

// owned returns the fields of a status that this package determines.
func owned(status v1alpha1.DarkroomStatus) v1alpha1.DarkroomStatus {
	status.DeployedRelease = nil
	status.Conditions = slices.Clone(status.Conditions)
	status.Conditions = slices.DeleteFunc(status.Conditions, func(condition v1alpha1.Condition) bool {
		return !slices.Contains(ownConditions, condition.Type)
	})
	slices.SortFunc(status.Conditions, func(a, b v1alpha1.Condition) int {
		return slices.Index(ownConditions, a.Type) - slices.Index(ownConditions, b.Type)
	})
	return status
}

// changed reports whether a report differs from the status of the resource.
func changed(report, current v1alpha1.DarkroomStatus) bool {
	return !equality.Semantic.DeepEqual(owned(report), owned(current)) || !sameHelmPart(report, current)
}

// applyConfiguration returns the apply configuration of a report.
func applyConfiguration(darkroom *v1alpha1.Darkroom, report v1alpha1.DarkroomStatus) (*unstructured.Unstructured, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&report)
	if err != nil {
		return nil, fmt.Errorf("encode status: %w", err)
	}
	out := identify(darkroom)
	out.Object["status"] = fields
	return out, nil
}

// identify returns an apply configuration without fields. With the UID, it cannot be
// applied to a recreated Darkroom of the same name.
func identify(darkroom *v1alpha1.Darkroom) *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: map[string]any{}}
	out.SetGroupVersionKind(v1alpha1.GroupVersionKind)
	out.SetNamespace(darkroom.Namespace)
	out.SetName(darkroom.Name)
	out.SetUID(darkroom.UID)
	return out
}

// apply writes a report. It returns the new resourceVersion of the resource; empty if the
// resource is gone.
func (r *Reconciler) apply(ctx context.Context, darkroom *v1alpha1.Darkroom, report v1alpha1.DarkroomStatus) (string, error) {
	configuration, err := applyConfiguration(darkroom, report)
	if err != nil {
		return "", err
	}
	if err := r.applyAs(ctx, FieldManager, configuration); err != nil {
		return "", client.IgnoreNotFound(err)
	}
	isFormer := func(entry metav1.ManagedFieldsEntry) bool { return entry.Manager == formerManager }
	if !slices.ContainsFunc(configuration.GetManagedFields(), isFormer) {
		return configuration.GetResourceVersion(), nil
	}
	// Its fields are in the report too, or are to be removed.
	none := identify(darkroom)
	if err := r.applyAs(ctx, formerManager, none); err != nil {
		return "", client.IgnoreNotFound(err)
	}
	return none.GetResourceVersion(), nil
}

func (r *Reconciler) applyAs(ctx context.Context, manager string, configuration *unstructured.Unstructured) error {
	return r.Client.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(configuration),
		client.FieldOwner(manager), client.ForceOwnership)
}
