package status

import (
	"fmt"
	"maps"
	"net"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/probe"
	"github.com/darkroom-operator/darkroom-operator/internal/rollout"
)

// determineSource returns the condition SourceReady: the result of the prober, if pods can be probed.
func determineSource(o Observation) v1alpha1.Condition {
	unknown := func(reason, message string) v1alpha1.Condition {
		return v1alpha1.Condition{
			Type: v1alpha1.ConditionSourceReady, Status: metav1.ConditionUnknown,
			Reason: reason, Message: message,
		}
	}
	switch wanted := o.Darkroom.Spec.Probe; {
	case wanted == nil:
		return unknown(v1alpha1.ReasonNoProbe,
			"Images are not checked: set spec.probe.path to the path of an image, for example /photos/cat.jpg.")
	case o.Probe == nil:
		return unknown(v1alpha1.ReasonProbeOff,
			"The operator runs with --probe-via=off, so only the startup probe of new pods requests the image of spec.probe.")
	case o.Deployment != nil && rollout.Wanted(o.Deployment) == 0:
		return unknown(v1alpha1.ReasonScaledToZero, "Scaled to zero: there is no pod to request an image from.")
	case o.isOutdated(), o.Starting == probe.Pod{} && !canBeProbed(o.Darkroom, o.Deployment):
		return unknown(v1alpha1.ReasonProbePending,
			"Probes start when the change is rolled out and a pod is ready.")
	case o.Starting == probe.Pod{} && addressOf(o) == "":
		return unknown(v1alpha1.ReasonProbePending,
			"Probes start when the Service selects the pods of the Darkroom.")
	case o.Probe.Status == metav1.ConditionUnknown:
		known := reported(o.Darkroom, v1alpha1.ConditionSourceReady)
		if o.Starting == (probe.Pod{}) && known != nil && known.Status != metav1.ConditionUnknown {
			// The operator was restarted. The previous result for the same pods remains valid.
			return *known
		}
		return unknown(v1alpha1.ReasonProbePending,
			fmt.Sprintf("Waiting for the first probe of %s.", wanted.Path))
	}
	reason, message := o.Probe.Outcome.Reason, o.Probe.Outcome.Message
	if isRefusedByProbe(o) {
		message = refusedMessage(o)
		if o.Deployment.Status.ReadyReplicas > 0 {
			reason = v1alpha1.ReasonNewPodsNotServing
		}
	}
	return v1alpha1.Condition{
		Type: v1alpha1.ConditionSourceReady, Status: o.Probe.Status,
		Reason: reason, Message: message,
	}
}

// requireSource returns the verdict for a Darkroom that is otherwise ready. Ready does not depend on the source if
// there is no probe, probes are disabled, or there are no pods.
func requireSource(ready verdict, source v1alpha1.Condition) verdict {
	switch source.Reason {
	case v1alpha1.ReasonImageServed, v1alpha1.ReasonNoProbe, v1alpha1.ReasonProbeOff, v1alpha1.ReasonScaledToZero:
		return ready
	case v1alpha1.ReasonProbePending:
		return verdict{v1alpha1.PhaseDeploying, metav1.ConditionFalse, source.Reason, source.Message}
	}
	return degraded(source.Reason, source.Message)
}

// isRefusedByProbe reports whether a pod does not become ready because it fails to serve the image of spec.probe.
func isRefusedByProbe(o Observation) bool {
	return o.Starting != probe.Pod{} && o.Probe != nil && o.Probe.Status == metav1.ConditionFalse
}

// refusedMessage returns the message if isRefusedByProbe is true.
func refusedMessage(o Observation) string {
	if o.Deployment.Status.ReadyReplicas == 0 {
		return "The pods do not serve the image of spec.probe. " + o.Probe.Outcome.Message
	}
	return "New pods do not serve the image of spec.probe, and the ready pods keep serving. " + o.Probe.Outcome.Message
}

// canBeProbed reports whether the pods of a Darkroom can be probed: all have the current template, and at least one is
// ready. Pods that are not ready do not receive probes.
func canBeProbed(darkroom *v1alpha1.Darkroom, deployment *appsv1.Deployment) bool {
	if darkroom.Spec.Probe == nil || darkroom.DeletionTimestamp != nil || deployment == nil {
		return false
	}
	return rollout.IsCurrent(deployment) && deployment.Status.ReadyReplicas >= 1
}

// revisionAnnotation counts the pod templates of a Deployment; the Deployment controller sets it.
const revisionAnnotation = "deployment.kubernetes.io/revision"

// addressOf returns the host and port of the Service of a Darkroom; empty if others have changed the Service so that it
// does not select exactly the pods of the Deployment.
func addressOf(o Observation) string {
	service, deployment := o.Service, o.Deployment
	if service == nil || deployment == nil || service.Spec.Type == corev1.ServiceTypeExternalName ||
		net.ParseIP(service.Spec.ClusterIP) == nil || len(service.Spec.Ports) == 0 ||
		deployment.Spec.Selector == nil || !maps.Equal(service.Spec.Selector, deployment.Spec.Selector.MatchLabels) {
		return ""
	}
	return net.JoinHostPort(service.Spec.ClusterIP, strconv.Itoa(int(service.Spec.Ports[0].Port)))
}

// targetOf returns the probe target of a Darkroom that can be probed. The target includes the revision of the pods,
// because results of other pods do not apply to them.
func targetOf(o Observation) probe.Target {
	target := probe.TargetOf(o.Darkroom)
	target.Address = addressOf(o)
	target.Revision = string(o.Deployment.UID) + "/" + o.Deployment.Annotations[revisionAnnotation]
	return target
}
