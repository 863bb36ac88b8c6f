package status

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// FieldManager is the field manager of the part of the status that the status controller reports.
const FieldManager = "darkroom-status"

// ownConditions are the conditions that this package determines.
var ownConditions = []string{
	v1alpha1.ConditionDomainsReady,
	v1alpha1.ConditionCredentialsReady,
	v1alpha1.ConditionSourceReady,
	v1alpha1.ConditionReady,
	v1alpha1.ConditionReconciling,
	v1alpha1.ConditionStalled,
}

// WithTransitionTimes sets the transition time of each condition: the current time if its status changed, otherwise the
// existing time.
func WithTransitionTimes(conditions, current []v1alpha1.Condition, now time.Time) {
	for i := range conditions {
		before := v1alpha1.FindCondition(current, conditions[i].Type)
		if before != nil && before.Status == conditions[i].Status && !before.LastTransitionTime.IsZero() {
			conditions[i].LastTransitionTime = before.LastTransitionTime
		} else {
			conditions[i].LastTransitionTime = metav1.NewTime(now).Rfc3339Copy()
		}
	}
}

// written returns the fields of a status that the status controller writes.
func written(status v1alpha1.DarkroomStatus) v1alpha1.DarkroomStatus {
	status.DeployedRelease, status.Conditions = nil, conditionsOf(status, ownConditions)
	return status
}

// changed reports whether a report differs from the status of the resource.
func changed(report, current v1alpha1.DarkroomStatus) bool {
	return !equality.Semantic.DeepEqual(written(report), written(current))
}

// configurationOf returns the apply configuration of a report. It contains the UID, so that it cannot be applied to a
// recreated Darkroom of the same name.
func configurationOf(darkroom *v1alpha1.Darkroom, report any) (*unstructured.Unstructured, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(report)
	if err != nil {
		return nil, fmt.Errorf("encode status: %w", err)
	}
	out := &unstructured.Unstructured{Object: map[string]any{"status": fields}}
	out.SetGroupVersionKind(v1alpha1.GroupVersionKind)
	out.SetNamespace(darkroom.Namespace)
	out.SetName(darkroom.Name)
	out.SetUID(darkroom.UID)
	return out, nil
}

// apply writes a report, which must be a pointer, as the complete set of fields of its field manager. It returns the
// new resource version of the Darkroom; empty if the Darkroom is gone.
func apply(
	ctx context.Context, writer client.StatusClient, darkroom *v1alpha1.Darkroom, manager string, report any,
) (string, error) {
	out, err := configurationOf(darkroom, report)
	if err != nil {
		return "", err
	}
	err = writer.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(out),
		client.FieldOwner(manager), client.ForceOwnership)
	if err != nil {
		return "", client.IgnoreNotFound(err)
	}
	return out.GetResourceVersion(), nil
}

// The cache usually shows a write within milliseconds.
const (
	cachePoll    = 2 * time.Millisecond
	cacheTimeout = 5 * time.Second
)

// awaitCache waits until the cache shows the written Darkroom or a later version, so that no decision is based on an
// older status. before is the version on which the report was based.
func (r *Reconciler) awaitCache(ctx context.Context, key types.NamespacedName, before, written string) error {
	if written == before {
		return nil
	}
	err := untilCached(ctx, r.Client, key, cacheTimeout,
		func(cached *v1alpha1.Darkroom) bool { return cached.ResourceVersion != before })
	if err != nil {
		return fmt.Errorf("wait for the cache to show the status: %w", err)
	}
	return nil
}

// untilCached waits until a cached Darkroom fulfills a condition or is gone.
func untilCached(
	ctx context.Context, cache client.Reader, key types.NamespacedName, timeout time.Duration,
	shows func(*v1alpha1.Darkroom) bool,
) error {
	return wait.PollUntilContextTimeout(ctx, cachePoll, timeout, true, func(ctx context.Context) (bool, error) {
		cached := &v1alpha1.Darkroom{}
		if err := cache.Get(ctx, key, cached, client.UnsafeDisableDeepCopy); err != nil {
			return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
		}
		return shows(cached), nil
	})
}
