package status

import (
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/hosts"
	"github.com/darkroom-operator/darkroom-operator/internal/probe"
	"github.com/darkroom-operator/darkroom-operator/internal/redact"
	"github.com/darkroom-operator/darkroom-operator/internal/rollout"
)

// containerName is the name of Darkroom's container in the chart.
const containerName = "darkroom"

// Observation is the input of a report. Missing objects are nil.
type Observation struct {
	Darkroom   *v1alpha1.Darkroom
	Deployment *appsv1.Deployment
	Service    *corev1.Service
	Ingress    *networkingv1.Ingress
	Route      *gatewayv1.HTTPRoute
	// Hosts are the hosts in the spec, with BaseDomain appended.
	Hosts      []string
	BaseDomain string
	// Published describes the URLs of the hosts.
	Published Published
	// Refused are the hosts in the spec that other Darkrooms hold.
	Refused []hosts.Refusal
	// MissingSecrets are referenced Secrets with credentials that do not exist.
	MissingSecrets []string
	// MissingClass is set if the IngressClass of the Ingress is known not to exist.
	MissingClass bool
	// MissingCertificates are Secrets that the Ingress names for certificates but that do not exist.
	MissingCertificates []string
	// Problem is the cause of pods that are not ready; nil if unknown.
	Problem *Problem
	// Starting is a running pod of the current template that does not become ready and that is therefore probed; zero
	// if there is none.
	Starting probe.Pod
	// Now is the time of the observation.
	Now time.Time
	// Probe is the result of the prober; nil if probes are disabled.
	Probe *probe.Result
}

// Problem is the reason and the message of a failure.
type Problem struct {
	Reason, Message string
}

// isOutdated reports whether the cached Deployment is older than the one that the Helm controller last applied,
// according to its report. The Deployment's status then does not reflect the change.
func (o Observation) isOutdated() bool {
	release := o.Darkroom.Status.DeployedRelease
	if o.Deployment == nil || release == nil || release.Deployment == nil {
		return false
	}
	applied := release.Deployment
	return o.Deployment.UID != applied.UID || o.Deployment.Generation < applied.Generation
}

// verdict describes whether a Darkroom is ready, and why.
type verdict struct {
	phase   v1alpha1.Phase
	ready   metav1.ConditionStatus
	reason  string
	message string
}

// degraded returns the verdict for a failing Darkroom.
func degraded(reason, message string) verdict {
	return verdict{v1alpha1.PhaseDegraded, metav1.ConditionFalse, reason, message}
}

// deploying returns the verdict for a Darkroom that is expected to become ready.
func deploying(message string) verdict {
	return verdict{v1alpha1.PhaseDeploying, metav1.ConditionFalse, v1alpha1.ReasonDeploying, message}
}

// Determine returns the part of the status that this package owns, without transition times; see WithTransitionTimes.
func Determine(o Observation) v1alpha1.DarkroomStatus {
	served := servedHosts(o)
	domains := determineDomains(o, served)
	credentials := determineCredentials(o)
	source := determineSource(o)
	verdict := determineVerdict(o, domains, credentials)
	if verdict.ready == metav1.ConditionTrue {
		verdict = requireSource(verdict, source)
	}
	report := v1alpha1.DarkroomStatus{
		ObservedGeneration: o.Darkroom.Generation,
		Phase:              verdict.phase,
		Message:            verdict.message,
		Domains:            served,
		BaseDomain:         o.BaseDomain,
		Installation:       v1alpha1.HandledBy(o.Darkroom),
		URL:                urlOf(served, o),
		Conditions:         []v1alpha1.Condition{domains},
	}
	if credentials != nil {
		report.Conditions = append(report.Conditions, *credentials)
	}
	report.Conditions = append(report.Conditions, source, v1alpha1.Condition{
		Type:    v1alpha1.ConditionReady,
		Status:  verdict.ready,
		Reason:  verdict.reason,
		Message: verdict.message,
	})
	if progress := determineProgress(o, verdict); progress != nil {
		report.Conditions = append(report.Conditions, *progress)
	}
	for i := range report.Conditions {
		report.Conditions[i].ObservedGeneration = o.Darkroom.Generation
	}
	if deployment := o.Deployment; deployment != nil {
		report.Version = versionOf(deployment)
		report.Address = fmt.Sprintf("http://%s.%s.svc", deployment.Name, deployment.Namespace)
		report.Replicas = deployment.Status.Replicas
		report.ReadyReplicas = deployment.Status.ReadyReplicas
		report.Pods = fmt.Sprintf("%d/%d", deployment.Status.ReadyReplicas, rollout.Wanted(deployment))
		report.Selector = metav1.FormatLabelSelector(deployment.Spec.Selector)
	}
	return report
}

// determineVerdict checks deletion and pause first, then the conditions of the Helm reconciler, the credentials, the
// domains, and the pods. The first problem that it finds is the verdict.
func determineVerdict(o Observation, domains v1alpha1.Condition, credentials *v1alpha1.Condition) verdict {
	darkroom := o.Darkroom
	if darkroom.DeletionTimestamp != nil {
		return verdict{v1alpha1.PhaseTerminating, metav1.ConditionFalse, v1alpha1.ReasonTerminating, terminating(darkroom)}
	}
	if v1alpha1.IsPaused(darkroom) {
		return verdict{
			v1alpha1.PhasePaused, metav1.ConditionUnknown, v1alpha1.ReasonPaused,
			"Paused by the annotation " + v1alpha1.AnnotationPaused + ": changes are not applied.",
		}
	}
	if failed := failureOf(darkroom); failed != nil {
		return verdict{v1alpha1.PhaseFailed, metav1.ConditionFalse, reasonOfFailure(darkroom, failed), failed.Message}
	}
	if o.Deployment == nil {
		return verdict{v1alpha1.PhasePending, metav1.ConditionFalse, v1alpha1.ReasonPending, "The release is not installed yet."}
	}
	// Without Initialized, the Helm controller has not reported on this generation.
	deployed := reported(darkroom, v1alpha1.ConditionDeployed)
	if reported(darkroom, v1alpha1.ConditionInitialized) == nil || deployed == nil ||
		deployed.Status != metav1.ConditionTrue {
		return deploying("The last change is being applied.")
	}
	if credentials != nil && credentials.Status != metav1.ConditionTrue {
		return degraded(credentials.Reason, credentials.Message)
	}
	if o.isOutdated() {
		return deploying("The last change is being applied.")
	}
	pods := determineRollout(o)
	if pods.ready != metav1.ConditionTrue || domains.Status == metav1.ConditionTrue ||
		domains.Reason == v1alpha1.ReasonAwaitingAddress {
		return pods
	}
	phase := v1alpha1.PhaseDeploying
	switch domains.Reason {
	case v1alpha1.ReasonDomainConflict, v1alpha1.ReasonRouteRefused, v1alpha1.ReasonIngressClassMissing:
		phase = v1alpha1.PhaseDegraded
	}
	return verdict{phase, domains.Status, domains.Reason, domains.Message}
}

// terminating returns the message for a Darkroom that is being deleted.
func terminating(darkroom *v1alpha1.Darkroom) string {
	if failed := failureOf(darkroom); failed != nil && failed.Reason == v1alpha1.ReasonUninstallError {
		return sentence("The Darkroom cannot be deleted: " + failed.Message)
	}
	return "The Darkroom is being deleted."
}

// reported returns a condition of the Helm reconciler if it describes the current generation; nil otherwise.
func reported(darkroom *v1alpha1.Darkroom, conditionType string) *v1alpha1.Condition {
	condition := v1alpha1.FindCondition(darkroom.Status.Conditions, conditionType)
	if condition == nil || condition.ObservedGeneration < darkroom.Generation {
		return nil
	}
	return condition
}

// reasonOfFailure returns the reason for a failure that the Helm reconciler reports.
func reasonOfFailure(darkroom *v1alpha1.Darkroom, failed *v1alpha1.Condition) string {
	if deployed := reported(darkroom, v1alpha1.ConditionDeployed); deployed != nil &&
		deployed.Reason == v1alpha1.ReasonForeignRelease {
		return v1alpha1.ReasonForeignRelease
	}
	if failed.Reason == v1alpha1.ReasonErrorGettingValues {
		return v1alpha1.ReasonInvalid
	}
	return v1alpha1.ReasonReleaseFailed
}

// failureOf returns the Helm reconciler's condition that best explains why the current generation failed; nil if it has
// not failed.
func failureOf(darkroom *v1alpha1.Darkroom) *v1alpha1.Condition {
	for _, conditionType := range []string{v1alpha1.ConditionReleaseFailed, v1alpha1.ConditionIrreconcilable} {
		if condition := reported(darkroom, conditionType); condition != nil && condition.Status == metav1.ConditionTrue {
			return condition
		}
	}
	return nil
}

// determineRollout reports the same progress as `kubectl rollout status`, plus the cause of a failure.
func determineRollout(o Observation) verdict {
	deployment, problem := o.Deployment, o.Problem
	wanted := rollout.Wanted(deployment)
	status := deployment.Status
	count := fmt.Sprintf("%d of %d pods are ready", status.ReadyReplicas, wanted)
	progressing, failing := rollout.Condition(deployment, appsv1.DeploymentProgressing),
		rollout.Condition(deployment, appsv1.DeploymentReplicaFailure)
	switch {
	case !rollout.IsObserved(deployment):
		return deploying("Rolling out: " + count + ".")
	case wanted == 0:
		return determineZero(o)
	case rollout.IsComplete(deployment):
		return verdict{v1alpha1.PhaseReady, metav1.ConditionTrue, v1alpha1.ReasonAllReplicasReady, sentence(count)}
	case problem != nil:
		return degraded(problem.Reason, o.quote(problem.Message))
	case failing != nil && failing.Status == corev1.ConditionTrue:
		return degraded(v1alpha1.ReasonPodsRefused, o.quote(failing.Message))
	case isRefusedByProbe(o):
		return degraded(o.Probe.Outcome.Reason, refusedMessage(o))
	case rollout.IsOverdue(deployment):
		return degraded(v1alpha1.ReasonProgressDeadlineExceeded, o.quote(progressing.Message))
	case rollout.WasComplete(deployment):
		if lostPods(o.Darkroom.Status, min(status.ReadyReplicas, wanted), wanted) {
			return degraded(v1alpha1.ReasonReplicasUnavailable, sentence(count))
		}
		return deploying("Scaling: " + count + ".")
	}
	return deploying("Rolling out: " + count + ".")
}

// determineZero returns the verdict for a Deployment with zero replicas, requested either by the Darkroom or by scaling
// the Deployment directly.
func determineZero(o Observation) verdict {
	spec := &o.Darkroom.Spec
	switch {
	case spec.Autoscaling != nil:
		return degraded(v1alpha1.ReasonAutoscalingSuspended,
			"The Deployment was scaled to zero, which suspends its autoscaler. Scale it up to resume.")
	case spec.Replicas == nil || *spec.Replicas != 0:
		return deploying("Scaling up from zero.")
	case o.Deployment.Status.Replicas > 0:
		return deploying(fmt.Sprintf("Scaling to zero: %d pods remain.", o.Deployment.Status.Replicas))
	}
	return verdict{
		v1alpha1.PhaseIdle, metav1.ConditionTrue, v1alpha1.ReasonScaledToZero,
		"Scaled to zero: no images are served.",
	}
}

// lostPods reports whether pods were lost, as opposed to more being requested. The Deployment looks the same in both
// cases, so the previous report decides. If fewer pods are ready than it reported, pods were lost, and they count as
// lost until all pods are ready again.
func lostPods(before v1alpha1.DarkroomStatus, ready, wanted int32) bool {
	wasReady := v1alpha1.FindCondition(before.Conditions, v1alpha1.ConditionReady)
	return ready < min(before.ReadyReplicas, wanted) ||
		wasReady != nil && wasReady.Reason == v1alpha1.ReasonReplicasUnavailable
}

// versionOf returns the tag, or else the digest, of the container image.
func versionOf(deployment *appsv1.Deployment) string {
	for _, container := range deployment.Spec.Template.Spec.Containers {
		if container.Name != containerName {
			continue
		}
		image, digest, _ := strings.Cut(container.Image, "@")
		if colon := strings.LastIndex(image, ":"); colon > strings.LastIndex(image, "/") {
			return image[colon+1:]
		}
		return digest
	}
	return ""
}

// quote returns a message of another controller as a sentence. The message is redacted, because it may quote a rejected
// object, such as a pod with its variables.
func (o Observation) quote(message string) string {
	return sentence(redact.Quote(o.Darkroom, message))
}

// sentence ends a message with a full stop.
func sentence(message string) string {
	message = strings.TrimSpace(message)
	if message == "" || strings.HasSuffix(message, ".") {
		return message
	}
	return message + "."
}
