package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// DarkroomStatus is the observed state of a Darkroom.
//
// Two controllers write it by server-side apply. The Helm controller owns the conditions of the release and
// deployedRelease, and the status controller owns all other fields.
type DarkroomStatus struct {
	// observedGeneration is the metadata.generation that this status describes; -1
	// before the first observation.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// phase is the summary of the conditions.
	// +optional
	Phase Phase `json:"phase,omitempty"`

	// message explains the phase in a sentence.
	// +optional
	Message string `json:"message,omitempty"`

	// domains are the hosts that serve images, sorted: the hosts of the live Ingress,
	// and of the live HTTPRoute once a Gateway has accepted it.
	// +optional
	// +listType=atomic
	Domains []string `json:"domains,omitempty"`

	// baseDomain is the domain that is appended to the subDomains of this generation. It is kept until the spec
	// changes, even if the operator's default changes.
	// +optional
	BaseDomain string `json:"baseDomain,omitempty"`

	// installation is the installation of the operator that reported last. It handles the Darkroom if no annotation
	// names an installation.
	// +optional
	Installation string `json:"installation,omitempty"`

	// url is the URL of the first domain. The operator's flags --url-scheme and
	// --url-port set scheme and port. Without --url-scheme, the scheme is https if the Ingress has a certificate for
	// the domain or a Gateway has accepted it at a listener that is known to be secure (see docs/conditions.md),
	// otherwise http.
	// +optional
	URL string `json:"url,omitempty"`

	// version is the container image tag or digest in the Deployment.
	// +optional
	Version string `json:"version,omitempty"`

	// address is the URL of the Service in the cluster.
	// +optional
	Address string `json:"address,omitempty"`

	// replicas is the number of pods.
	// +optional
	Replicas int32 `json:"replicas"`

	// readyReplicas is the number of ready pods.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas"`

	// pods is the number of ready pods and the desired number, for example 1/3.
	// +optional
	Pods string `json:"pods,omitempty"`

	// selector is the label selector of the pods, for the scale subresource.
	// +optional
	Selector string `json:"selector,omitempty"`

	// deployedRelease is the Helm release of this Darkroom.
	// +optional
	DeployedRelease *DeployedRelease `json:"deployedRelease,omitempty"`

	// conditions are the latest observations of the state of the Darkroom.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []Condition `json:"conditions,omitempty"`
}

// DeployedRelease is a reference to a Helm release. The manifest is stored only in Helm's Secret, because it contains
// credentials.
type DeployedRelease struct {
	// name is the name of the release.
	// +optional
	Name string `json:"name,omitempty"`

	// digest contains a digest of each object of the release as it was applied. A restarted operator uses it to detect
	// unchanged objects.
	// +optional
	Digest string `json:"digest,omitempty"`

	// deployment is the Deployment that the operator last applied. The status of an older one is ignored.
	// +optional
	Deployment *AppliedDeployment `json:"deployment,omitempty"`
}

// AppliedDeployment identifies an applied Deployment.
type AppliedDeployment struct {
	// uid is the UID of the Deployment.
	// +optional
	UID types.UID `json:"uid,omitempty"`

	// generation is the metadata.generation of the Deployment after the apply.
	// +optional
	Generation int64 `json:"generation,omitempty"`
}

// Condition is one aspect of the state of a Darkroom. Unlike in metav1.Condition,
// reason and message may be empty, because the Helm reconciler does not always set them.
type Condition struct {
	// type is the type of the condition.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=316
	Type string `json:"type"`

	// status is the status of the condition: True, False or Unknown.
	// +required
	// +kubebuilder:validation:Enum=True;False;Unknown
	Status metav1.ConditionStatus `json:"status"`

	// observedGeneration is the metadata.generation that the condition describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// lastTransitionTime is the time at which the status last changed.
	// +optional
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitempty"`

	// reason is the reason for the status, as a CamelCase word.
	// +optional
	Reason string `json:"reason,omitempty"`

	// message explains the status in a sentence.
	// +optional
	Message string `json:"message,omitempty"`
}

// Phase is the summary of the state of a Darkroom.
//
// +kubebuilder:validation:Enum=Pending;Deploying;Ready;Idle;Degraded;Failed;Terminating;Paused
type Phase string

// The phases.
const (
	// PhasePending: queued; nothing is installed yet.
	PhasePending Phase = "Pending"
	// PhaseDeploying: a change is being applied, rolled out, scaled or routed.
	PhaseDeploying Phase = "Deploying"
	// PhaseReady: all pods are ready with the desired specification, and every host
	// is routed.
	PhaseReady Phase = "Ready"
	// PhaseIdle: scaled to zero by spec.replicas. No images are served.
	PhaseIdle Phase = "Idle"
	// PhaseDegraded: installed, but not fully working.
	PhaseDegraded Phase = "Degraded"
	// PhaseFailed: invalid, or could not be installed or upgraded.
	PhaseFailed Phase = "Failed"
	// PhaseTerminating: being deleted.
	PhaseTerminating Phase = "Terminating"
	// PhasePaused: the annotation AnnotationPaused suspends reconciliation.
	PhasePaused Phase = "Paused"
)
