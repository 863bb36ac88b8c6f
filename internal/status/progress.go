package status

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/claims"
)

// retryPatience is for how long a release that fails counts as being retried. Most
// of what passes by itself, such as a webhook that restarts, has passed by then.
const retryPatience = 30 * time.Second

// hopeless are reasons of a degraded Darkroom that somebody has to act on: waiting
// does not help.
var hopeless = []string{
	v1alpha1.ReasonImagePullFailed,
	v1alpha1.ReasonPodsFailing,
	v1alpha1.ReasonPodsRefused,
	v1alpha1.ReasonProgressDeadlineExceeded,
	v1alpha1.ReasonAutoscalingSuspended,
	v1alpha1.ReasonRouteRefused,
	// A source that fails, is slow or cannot be reached may recover by itself.
	v1alpha1.ReasonImageUnprocessable,
	v1alpha1.ReasonSourceDenied,
	v1alpha1.ReasonImageNotFound,
	v1alpha1.ReasonSourceRedirected,
	v1alpha1.ReasonSourceRejected,
	v1alpha1.ReasonNotAnImage,
	v1alpha1.ReasonWrongSize,
	v1alpha1.ReasonProbeForbidden,
	v1alpha1.ReasonProbeInvalid,
	v1alpha1.ReasonPreflightFailed,
}

// determineProgress returns the condition Reconciling while work is under way,
// Stalled while there is no progress until somebody acts, and nil when there is
// nothing to do. Both follow the conventions of kstatus: they are True or absent.
func determineProgress(o Observation, v verdict) *v1alpha1.Condition {
	conditionType := v1alpha1.ConditionReconciling
	switch v.phase {
	case v1alpha1.PhaseReady, v1alpha1.PhaseIdle, v1alpha1.PhasePaused, v1alpha1.PhaseTerminating:
		return nil
	case v1alpha1.PhaseFailed:
		if v.reason != v1alpha1.ReasonReleaseFailed || retriedFor(o) <= 0 {
			conditionType = v1alpha1.ConditionStalled
		}
	case v1alpha1.PhaseDegraded:
		if isStalled(o, v.reason) {
			conditionType = v1alpha1.ConditionStalled
		}
	case v1alpha1.PhasePending, v1alpha1.PhaseDeploying:
	}
	return &v1alpha1.Condition{Type: conditionType, Status: metav1.ConditionTrue, Reason: v.reason, Message: v.message}
}

// isStalled reports whether a degraded Darkroom stays so until somebody acts. What
// may pass by itself – a Secret that another controller creates, a node that is
// added, a pod that is replaced – counts as stalled when the roll-out has exceeded
// its deadline.
func isStalled(o Observation, reason string) bool {
	if slices.Contains(hopeless, reason) {
		return true
	}
	if reason == v1alpha1.ReasonDomainConflict {
		return slices.ContainsFunc(o.Refused, func(refusal claims.Refusal) bool { return !refusal.Leaving })
	}
	progressing := DeploymentCondition(o.Deployment, appsv1.DeploymentProgressing)
	return progressing != nil && progressing.Status == corev1.ConditionFalse
}

// retriedFor is for how much longer the failure of a release counts as being
// retried; 0 or less if it no longer does, or if there is none.
func retriedFor(o Observation) time.Duration {
	failed := failureOf(o.Darkroom)
	if failed == nil {
		return 0
	}
	return retryPatience - o.Now.Sub(failed.LastTransitionTime.Time)
}
