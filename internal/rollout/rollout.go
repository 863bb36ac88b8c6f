// Package rollout evaluates the progress of a rollout from the status of a Deployment. The number of concurrent rollouts
// is limited in internal/release/postpone.go. Pods that cannot serve the probed image are held back by the startup probe
// of the chart (darkroom.imageProbe in _helpers.tpl).
package rollout

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// Wanted returns the number of pods that a Deployment requests.
func Wanted(deployment *appsv1.Deployment) int32 { return ptr.Deref(deployment.Spec.Replicas, 1) }

// IsObserved reports whether the status of a Deployment describes its current generation.
func IsObserved(deployment *appsv1.Deployment) bool {
	return deployment.Status.ObservedGeneration >= deployment.Generation
}

// IsCurrent reports whether no pods of earlier templates are left.
func IsCurrent(deployment *appsv1.Deployment) bool {
	return IsObserved(deployment) && deployment.Status.Replicas <= deployment.Status.UpdatedReplicas
}

// IsComplete reports whether all pods have the current template and enough of them are available. This is also when
// `kubectl rollout status` ends.
func IsComplete(deployment *appsv1.Deployment) bool {
	wanted, status := Wanted(deployment), deployment.Status
	return IsCurrent(deployment) && status.UpdatedReplicas >= wanted && status.AvailableReplicas >= wanted
}

// WasComplete reports whether the rollout of the current template has completed at some time. Later scaling and losses
// of pods do not matter.
func WasComplete(deployment *appsv1.Deployment) bool {
	progressing := Condition(deployment, appsv1.DeploymentProgressing)
	return progressing != nil && progressing.Reason == "NewReplicaSetAvailable"
}

// IsOverdue reports whether a rollout has exceeded its deadline. The rollout continues nevertheless.
func IsOverdue(deployment *appsv1.Deployment) bool {
	progressing := Condition(deployment, appsv1.DeploymentProgressing)
	return progressing != nil && progressing.Status == corev1.ConditionFalse
}

// IsRolling reports whether a Deployment is replacing its pods. Overdue rollouts, scaling and losses of pods do not
// count.
func IsRolling(deployment *appsv1.Deployment) bool {
	switch {
	case Wanted(deployment) == 0, deployment.Spec.Paused, deployment.DeletionTimestamp != nil:
		return false
	case !IsObserved(deployment):
		return true
	}
	return !IsOverdue(deployment) && !WasComplete(deployment) && !IsComplete(deployment)
}

// Condition returns the condition of a type, or nil.
func Condition(
	deployment *appsv1.Deployment, conditionType appsv1.DeploymentConditionType,
) *appsv1.DeploymentCondition {
	for i := range deployment.Status.Conditions {
		if deployment.Status.Conditions[i].Type == conditionType {
			return &deployment.Status.Conditions[i]
		}
	}
	return nil
}
