package status

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/rollout"
)

// retryPeriod is the time for which a failing release counts as being retried. Most transient failures, such as the
// restart of a webhook, end within it.
const retryPeriod = 30 * time.Second

// needingUsers are the reasons of a degraded Darkroom that require action by users.
var needingUsers = []string{
	v1alpha1.ReasonImagePullFailed,
	v1alpha1.ReasonPodsFailing,
	v1alpha1.ReasonPodsRefused,
	v1alpha1.ReasonProgressDeadlineExceeded,
	v1alpha1.ReasonAutoscalingSuspended,
	v1alpha1.ReasonRouteRefused,
	v1alpha1.ReasonIngressClassMissing,
	v1alpha1.ReasonDomainConflict,
	// Reasons such as a failing, slow or unreachable source are not listed, because the source may recover by itself.
	v1alpha1.ReasonImageUnprocessable,
	v1alpha1.ReasonSourceDenied,
	v1alpha1.ReasonImageNotFound,
	v1alpha1.ReasonSourceRedirected,
	v1alpha1.ReasonSourceRejected,
	v1alpha1.ReasonNotAnImage,
	v1alpha1.ReasonProbeForbidden,
	v1alpha1.ReasonProbeInvalid,
}

// determineProgress returns the condition Reconciling while work is in progress, Stalled if progress requires action by
// users, and nil if there is nothing to do. By the conventions of kstatus, these conditions are either True or absent.
func determineProgress(o Observation, v verdict) *v1alpha1.Condition {
	conditionType := v1alpha1.ConditionReconciling
	switch v.phase {
	case v1alpha1.PhaseReady, v1alpha1.PhaseIdle, v1alpha1.PhasePaused, v1alpha1.PhaseTerminating:
		return nil
	case v1alpha1.PhaseFailed, v1alpha1.PhaseDegraded:
		if isStalled(o, v) {
			conditionType = v1alpha1.ConditionStalled
		}
	case v1alpha1.PhasePending, v1alpha1.PhaseDeploying:
	}
	return &v1alpha1.Condition{Type: conditionType, Status: metav1.ConditionTrue, Reason: v.reason, Message: v.message}
}

// isStalled reports whether a failed or degraded Darkroom requires action by users. Failures that may resolve
// themselves (another controller creates the Secret, a node is added, a pod is replaced) count as stalled once the
// rollout has exceeded its deadline.
func isStalled(o Observation, v verdict) bool {
	if v.phase == v1alpha1.PhaseFailed {
		return v.reason != v1alpha1.ReasonReleaseFailed || retriedFor(o) <= 0
	}
	return slices.Contains(needingUsers, v.reason) || rollout.IsOverdue(o.Deployment)
}

// retriedFor returns the remaining time for which a failed release counts as being retried; 0 or less if it does not
// count.
func retriedFor(o Observation) time.Duration {
	failed := failureOf(o.Darkroom)
	if failed == nil {
		return 0
	}
	return retryPeriod - o.Now.Sub(failed.LastTransitionTime.Time)
}
