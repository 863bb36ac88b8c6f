package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Conditions written by the status controller.
const (
	// ConditionReady is True when all pods are ready with the desired specification and
	// every host is routed, or when the Darkroom is scaled to zero by its spec.
	ConditionReady = "Ready"
	// ConditionDomainsReady is True when every sub-domain is in the rules of the
	// live Ingress, or in an HTTPRoute that every Gateway has accepted. It is Unknown
	// until the Gateways have reported on the current generation of the HTTPRoute.
	ConditionDomainsReady = "DomainsReady"
	// ConditionCredentialsReady is True when the referenced Secret exists. It is
	// absent if no Secret is referenced.
	ConditionCredentialsReady = "CredentialsReady"
	// ConditionSourceReady is True when the image of spec.probe is served. It is
	// Unknown for resources without a probe, and while no pod can be probed.
	ConditionSourceReady = "SourceReady"
	// ConditionReconciling is True while a change is in progress, and absent otherwise.
	// It has the reason and message of Ready.
	ConditionReconciling = "Reconciling"
	// ConditionStalled is True if the Darkroom needs intervention to make progress, and
	// absent otherwise. It has the reason and message of Ready.
	ConditionStalled = "Stalled"
)

// Conditions written by the Helm reconciler, with the names that
// helm-operator-plugins gives them.
const (
	// ConditionInitialized is True once the reconciler has handled the resource.
	ConditionInitialized = "Initialized"
	// ConditionDeployed is True when a release is installed.
	ConditionDeployed = "Deployed"
	// ConditionReleaseFailed is True when the last install, upgrade or uninstall failed.
	ConditionReleaseFailed = "ReleaseFailed"
	// ConditionIrreconcilable is True when the resource cannot be translated into a
	// release, or the release cannot be kept in the desired state.
	ConditionIrreconcilable = "Irreconcilable"
	// ConditionPaused is True while the annotation AnnotationPaused is set.
	ConditionPaused = "Paused"
)

// ConditionContested is True while another writer keeps changing an object of the Darkroom and the operator
// repairs it less often. It is absent otherwise.
const ConditionContested = "Contested"

// ReasonForeignWriter is the reason of the condition Contested.
const ReasonForeignWriter = "ForeignWriter"

// ConditionRolloutQueued is True while a change of the pods caused by the operator, such as a new default image, waits
// for other such rollouts. It is absent otherwise.
const ConditionRolloutQueued = "RolloutQueued"

// ReasonRolloutLimit is the reason of the condition RolloutQueued.
const ReasonRolloutLimit = "RolloutLimit"

// ReasonForeignRelease is a reason of the conditions Deployed and Ready: a Helm release with the Darkroom's name exists
// but does not belong to the Darkroom.
const ReasonForeignRelease = "ForeignRelease"

// Reasons of the conditions that the Helm reconciler writes, with the names that helm-operator-plugins gives them. A
// condition with the opposite status has no reason.
const (
	// ReasonInstallSuccessful: Deployed is True after an install.
	ReasonInstallSuccessful = "InstallSuccessful"
	// ReasonUpgradeSuccessful: Deployed is True after an upgrade.
	ReasonUpgradeSuccessful = "UpgradeSuccessful"
	// ReasonUninstallSuccessful: Deployed is False, because the release was uninstalled.
	ReasonUninstallSuccessful = "UninstallSuccessful"
	// ReasonPauseReconcileAnnotationTrue: Paused is True.
	ReasonPauseReconcileAnnotationTrue = "PauseReconcileAnnotationTrue"
	// ReasonErrorGettingClient: Irreconcilable is True; the Helm client could not be created.
	ReasonErrorGettingClient = "ErrorGettingClient"
	// ReasonErrorGettingValues: Irreconcilable is True; the resource cannot be
	// translated into values of the chart.
	ReasonErrorGettingValues = "ErrorGettingValues"
	// ReasonErrorGettingReleaseState: Irreconcilable is True; the stored release could
	// not be read, or another Helm client is changing it.
	ReasonErrorGettingReleaseState = "ErrorGettingReleaseState"
	// ReasonInstallError: ReleaseFailed is True; the install failed.
	ReasonInstallError = "InstallError"
	// ReasonUpgradeError: ReleaseFailed is True; the upgrade failed.
	ReasonUpgradeError = "UpgradeError"
	// ReasonReconcileError: Irreconcilable is True; objects could not be created,
	// repaired or deleted.
	ReasonReconcileError = "ReconcileError"
	// ReasonUninstallError: ReleaseFailed is True; the uninstall failed.
	ReasonUninstallError = "UninstallError"
)

// Reasons of the condition Ready. While DomainsReady or CredentialsReady is not True, Ready
// has the same reason.
const (
	// ReasonAllReplicasReady: True; every pod is ready.
	ReasonAllReplicasReady = "AllReplicasReady"
	// ReasonScaledToZero: True; no pods are requested or running.
	ReasonScaledToZero = "ScaledToZero"
	// ReasonPending: the release is not installed yet.
	ReasonPending = "Pending"
	// ReasonDeploying: a change is being applied, rolled out or scaled.
	ReasonDeploying = "Deploying"
	// ReasonInvalid: the resource cannot be translated; it must be changed.
	ReasonInvalid = "Invalid"
	// ReasonReleaseFailed: the release could not be installed, upgraded or repaired.
	ReasonReleaseFailed = "ReleaseFailed"
	// ReasonImagePullFailed: a pod cannot pull its container image.
	ReasonImagePullFailed = "ImagePullFailed"
	// ReasonPodsFailing: a pod crashes repeatedly, or cannot start.
	ReasonPodsFailing = "PodsFailing"
	// ReasonUnschedulable: no node has room for a pod.
	ReasonUnschedulable = "Unschedulable"
	// ReasonProgressDeadlineExceeded: the rollout made no progress in time.
	ReasonProgressDeadlineExceeded = "ProgressDeadlineExceeded"
	// ReasonPodsRefused: the Kubernetes API server refuses to create pods (quota, policy).
	ReasonPodsRefused = "PodsRefused"
	// ReasonReplicasUnavailable: pods were lost, and fewer are ready than requested.
	ReasonReplicasUnavailable = "ReplicasUnavailable"
	// ReasonAutoscalingSuspended: the Deployment of an autoscaled Darkroom was scaled
	// to zero by hand, which suspends the autoscaler.
	ReasonAutoscalingSuspended = "AutoscalingSuspended"
	// ReasonTerminating: the Darkroom is being deleted.
	ReasonTerminating = "Terminating"
	// ReasonPaused: Unknown; reconciliation is suspended.
	ReasonPaused = "Paused"
)

// Reasons of the condition DomainsReady.
const (
	// ReasonRouted: True; every host is in the live Ingress, or in an HTTPRoute that
	// every Gateway has accepted.
	ReasonRouted = "Routed"
	// ReasonNotRouted: a host is not in the live Ingress or HTTPRoute yet.
	ReasonNotRouted = "NotRouted"
	// ReasonAwaitingGateway: Unknown; a Gateway has not reported on the current generation
	// of the HTTPRoute, perhaps because it does not exist.
	ReasonAwaitingGateway = "AwaitingGateway"
	// ReasonIngressClassMissing: the IngressClass of the Ingress does not exist, so no controller serves it.
	ReasonIngressClassMissing = "IngressClassMissing"
	// ReasonCertificateMissing: the Secret with the certificate of the Ingress does not exist.
	ReasonCertificateMissing = "CertificateMissing"
	// ReasonAwaitingAddress: Unknown; no controller has published an address for the Ingress. Some never do, so
	// Ready is not affected.
	ReasonAwaitingAddress = "AwaitingAddress"
	// ReasonRouteRefused: a Gateway does not accept the HTTPRoute.
	ReasonRouteRefused = "RouteRefused"
	// ReasonRouteUnresolved: a Gateway cannot resolve a reference of the HTTPRoute.
	ReasonRouteUnresolved = "RouteUnresolved"
	// ReasonDomainConflict: another Darkroom claimed a host first.
	ReasonDomainConflict = "DomainConflict"
)

// Reasons of the condition CredentialsReady.
const (
	// ReasonSecretFound: True; the Secret exists and has all keys that the pods need.
	ReasonSecretFound = "SecretFound"
	// ReasonSecretMissing: the referenced Secret does not exist.
	ReasonSecretMissing = "SecretMissing"
	// ReasonSecretKeyMissing: a pod cannot start, because the Secret lacks a key.
	ReasonSecretKeyMissing = "SecretKeyMissing"
)

// Reasons of the condition SourceReady. All except NoProbe, ProbeOff and ImageServed are also reasons of the condition
// Ready.
const (
	// ReasonNoProbe: Unknown; the resource sets no spec.probe.
	ReasonNoProbe = "NoProbe"
	// ReasonProbeOff: Unknown; the operator runs with --probe-via=off. The probe then does not affect Ready.
	ReasonProbeOff = "ProbeOff"
	// ReasonProbePending: Unknown; the rollout is not complete, or there were too few
	// probes to decide.
	ReasonProbePending = "ProbePending"
	// ReasonImageServed: True; the image is served in the requested size.
	ReasonImageServed = "ImageServed"
	// ReasonSourceDenied: the source denied Darkroom access (HTTP 401 or 403).
	ReasonSourceDenied = "SourceDenied"
	// ReasonImageNotFound: the image is not in the source, or not within Darkroom's path
	// prefix (HTTP 404).
	ReasonImageNotFound = "ImageNotFound"
	// ReasonImageUnprocessable: Darkroom could not fetch or process the image (HTTP 422), or a
	// gate refused it (413 or 415).
	ReasonImageUnprocessable = "ImageUnprocessable"
	// ReasonSourceRedirected: the source redirects, as S3 does for a bucket of
	// another region (HTTP 3xx).
	ReasonSourceRedirected = "SourceRedirected"
	// ReasonSourceRejected: the source rejected the request (other HTTP 4xx).
	ReasonSourceRejected = "SourceRejected"
	// ReasonSourceFailing: the source or Darkroom failed (HTTP 5xx).
	ReasonSourceFailing = "SourceFailing"
	// ReasonSourceTimeout: Darkroom accepted the request but did not respond in time, or a gate reports a timeout of
	// the source (HTTP 504).
	ReasonSourceTimeout = "SourceTimeout"
	// ReasonUnreachable: there was no HTTP response from the Darkroom's Service.
	ReasonUnreachable = "Unreachable"
	// ReasonNotAnImage: the response is not an image.
	ReasonNotAnImage = "NotAnImage"
	// ReasonNewPodsNotServing: the pods of a rollout do not serve the image, but the previous pods do. The reason of
	// Ready is the cause.
	ReasonNewPodsNotServing = "NewPodsNotServing"
	// ReasonProbeForbidden: the operator is not allowed to use the proxy of Services
	// (only with --probe-via=apiserver).
	ReasonProbeForbidden = "ProbeForbidden"
	// ReasonProbeInvalid: spec.probe.path is not a valid path.
	ReasonProbeInvalid = "ProbeInvalid"
)

// FindCondition returns the condition of a type, or nil.
func FindCondition(conditions []Condition, conditionType string) *Condition {
	for i := range conditions {
		if conditions[i].Type == conditionType {
			return &conditions[i]
		}
	}
	return nil
}

// IsConditionTrue reports whether the condition of a type is present and True.
func IsConditionTrue(conditions []Condition, conditionType string) bool {
	c := FindCondition(conditions, conditionType)
	return c != nil && c.Status == metav1.ConditionTrue
}

// IsConditionTrueNow is like IsConditionTrue, for the current generation of a Darkroom.
func IsConditionTrueNow(darkroom *Darkroom, conditionType string) bool {
	c := FindCondition(darkroom.Status.Conditions, conditionType)
	return c != nil && c.Status == metav1.ConditionTrue && c.ObservedGeneration == darkroom.Generation
}
