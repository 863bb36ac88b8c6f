package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Conditions written by the status controller.
const (
	// ConditionReady is True when all pods run what the resource asks for, are
	// ready, and its hosts are routed.
	ConditionReady = "Ready"
	// ConditionDomainsReady is True when every sub-domain is routed by the live
	// Ingress or HTTPRoute.
	ConditionDomainsReady = "DomainsReady"
	// ConditionCredentialsReady is True when the Secret that the resource references
	// is there. It is left out of resources that reference none.
	ConditionCredentialsReady = "CredentialsReady"
)

// Conditions written by the Helm reconciler; their names are those of
// helm-operator-plugins.
const (
	// ConditionInitialized is True once the reconciler has looked at the resource.
	ConditionInitialized = "Initialized"
	// ConditionDeployed is True when a release is installed.
	ConditionDeployed = "Deployed"
	// ConditionReleaseFailed is True when the last install, upgrade or uninstall failed.
	ConditionReleaseFailed = "ReleaseFailed"
	// ConditionIrreconcilable is True when the resource cannot be turned into a
	// release, or the release cannot be kept as it should be.
	ConditionIrreconcilable = "Irreconcilable"
	// ConditionPaused is True while the annotation AnnotationPaused asks for it.
	ConditionPaused = "Paused"
)

// ConditionContested is True while another writer keeps changing an object of the
// Darkroom and the operator has stopped restoring it for a while. It is left out
// otherwise.
const ConditionContested = "Contested"

// ReasonForeignWriter is the reason of the condition Contested.
const ReasonForeignWriter = "ForeignWriter"

// ReasonForeignRelease is a reason of the conditions Deployed and Ready: a Helm release
// of the Darkroom's name exists and does not belong to the Darkroom.
const ReasonForeignRelease = "ForeignRelease"

// Reasons of the condition Ready.
const (
	// ReasonAllReplicasReady: True; every pod is ready.
	ReasonAllReplicasReady = "AllReplicasReady"
	// ReasonPending: the release is not installed yet.
	ReasonPending = "Pending"
	// ReasonDeploying: a change is being rolled out.
	ReasonDeploying = "Deploying"
	// ReasonInvalid: the resource cannot be turned into a release until it is changed.
	ReasonInvalid = "Invalid"
	// ReasonReleaseFailed: the release could not be installed or upgraded.
	ReasonReleaseFailed = "ReleaseFailed"
	// ReasonImagePullFailed: a pod cannot pull its image.
	ReasonImagePullFailed = "ImagePullFailed"
	// ReasonPodsFailing: a pod starts and fails again and again, or cannot start.
	ReasonPodsFailing = "PodsFailing"
	// ReasonUnschedulable: no node has room for a pod.
	ReasonUnschedulable = "Unschedulable"
	// ReasonProgressDeadlineExceeded: the roll-out made no progress in time.
	ReasonProgressDeadlineExceeded = "ProgressDeadlineExceeded"
	// ReasonPodsRefused: the API server refuses to create pods (quota, policy).
	ReasonPodsRefused = "PodsRefused"
	// ReasonReplicasUnavailable: fewer pods are ready than should be.
	ReasonReplicasUnavailable = "ReplicasUnavailable"
	// ReasonScaledToZero: no pod is asked for, so no picture is served.
	ReasonScaledToZero = "ScaledToZero"
	// ReasonTerminating: the Darkroom is being deleted.
	ReasonTerminating = "Terminating"
	// ReasonPaused: the operator leaves the Darkroom alone.
	ReasonPaused = "Paused"
)

// Reasons of the condition DomainsReady.
const (
	// ReasonRouted: True; every host is in the live Ingress or HTTPRoute.
	ReasonRouted = "Routed"
	// ReasonNotRouted: the Ingress or HTTPRoute does not carry every host yet.
	ReasonNotRouted = "NotRouted"
	// ReasonDomainConflict: a host belongs to another Darkroom, which claimed it
	// first. Also a reason of the condition Ready.
	ReasonDomainConflict = "DomainConflict"
)

// Reasons of the condition CredentialsReady; the last two also of Ready.
const (
	// ReasonSecretFound: True; the Secret is there, and no pod misses a key in it.
	ReasonSecretFound = "SecretFound"
	// ReasonSecretMissing: the referenced Secret does not exist.
	ReasonSecretMissing = "SecretMissing"
	// ReasonSecretKeyMissing: a pod cannot start, because the Secret lacks a key.
	ReasonSecretKeyMissing = "SecretKeyMissing"
)

// Annotations that people set on a Darkroom.
const (
	// AnnotationPaused set to "true" has the operator leave the Darkroom alone.
	AnnotationPaused = "deployments.example.com/paused"
	// AnnotationReconcilePeriod overrides the operator's resync period for one
	// Darkroom; a Go duration such as 30s.
	AnnotationReconcilePeriod = "deployments.example.com/reconcile-period"
	// AnnotationAdoptRelease names an existing Helm release of the Darkroom's own chart
	// that the Darkroom takes over, with its objects. Its value must be the Darkroom's
	// name, which is also the name of its release.
	AnnotationAdoptRelease = "deployments.example.com/adopt-release"
)

// AnnotationInstallation names the installation of the operator that handles a Darkroom. The
// operator sets it on a Darkroom that has none; change it to move the Darkroom to another
// installation.
const AnnotationInstallation = "deployments.example.com/installation"

// LabelDarkroom is on every object that belongs to a Darkroom, Helm's release
// Secrets included; its value is the Darkroom's name. The operator's caches are
// limited to objects that carry it.
const LabelDarkroom = "deployments.example.com/darkroom"

// LabelDarkroomUID is on Helm's release Secrets beside LabelDarkroom; its value is the
// Darkroom's UID. Helm clients keep it when they rewrite a Secret, while they drop owner
// references.
const LabelDarkroomUID = "deployments.example.com/darkroom-uid"

// FindCondition returns the condition of a type, or nil.
func FindCondition(conditions []Condition, conditionType string) *Condition {
	for i := range conditions {
		if conditions[i].Type == conditionType {
			return &conditions[i]
		}
	}
	return nil
}

// IsConditionTrue tells whether the condition of a type is there and True.
func IsConditionTrue(conditions []Condition, conditionType string) bool {
	c := FindCondition(conditions, conditionType)
	return c != nil && c.Status == metav1.ConditionTrue
}
