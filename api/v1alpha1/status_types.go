package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// DarkroomStatus is what was found of a Darkroom.
//
// Two writers share it by server-side apply: the Helm reconciler owns its own
// conditions and deployedRelease, the status controller owns the rest.
type DarkroomStatus struct {
	// ObservedGeneration is the metadata.generation that this status describes; -1
	// before the first observation.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Phase sums the conditions up in a word.
	// +optional
	Phase Phase `json:"phase,omitempty"`

	// Message says in a sentence why the phase is what it is.
	// +optional
	Message string `json:"message,omitempty"`

	// Domains are the hosts at which images are served, sorted: those in the rules
	// of the live Ingress, and those of the live HTTPRoute once a Gateway has
	// accepted it.
	// +optional
	// +listType=atomic
	Domains []string `json:"domains,omitempty"`

	// URL is the first of the domains with its scheme: https if the Ingress has a
	// certificate for it, or a Gateway accepted it at a listener that is known to be
	// secure (see the page conditions.md), else http.
	// +optional
	URL string `json:"url,omitempty"`

	// Version is the image tag or digest that the Deployment asks for.
	// +optional
	Version string `json:"version,omitempty"`

	// Address is the URL of the Service within the cluster.
	// +optional
	Address string `json:"address,omitempty"`

	// Replicas is the number of pods.
	// +optional
	Replicas int32 `json:"replicas"`

	// ReadyReplicas is the number of pods that are ready.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas"`

	// Selector selects the pods, for the scale subresource.
	// +optional
	Selector string `json:"selector,omitempty"`

	// DeployedRelease is the Helm release of this Darkroom.
	// +optional
	DeployedRelease *DeployedRelease `json:"deployedRelease,omitempty"`

	// Conditions are the findings one by one.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []Condition `json:"conditions,omitempty"`
}

// DeployedRelease names a Helm release. (The manifest stays in Helm's own
// Secret, because it holds credentials.)
type DeployedRelease struct {
	// Name is the release's name.
	// +optional
	Name string `json:"name,omitempty"`
}

// Condition is one finding. It differs from metav1.Condition in that reason and
// message may be empty, as the Helm reconciler leaves them.
type Condition struct {
	// Type is the name of the finding.
	// +required
	// +kubebuilder:validation:MaxLength=316
	Type string `json:"type"`

	// Status is True, False or Unknown.
	// +required
	// +kubebuilder:validation:Enum=True;False;Unknown
	Status metav1.ConditionStatus `json:"status"`

	// ObservedGeneration is the metadata.generation that the finding speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// LastTransitionTime is when the status last changed.
	// +optional
	LastTransitionTime metav1.Time `json:"lastTransitionTime,omitempty"`

	// Reason is the cause in a CamelCase word.
	// +optional
	Reason string `json:"reason,omitempty"`

	// Message is the cause in a sentence.
	// +optional
	Message string `json:"message,omitempty"`
}

// Phase sums the state of a Darkroom up in a word.
//
// +kubebuilder:validation:Enum=Pending;Deploying;Ready;Idle;Degraded;Failed;Terminating;Paused
type Phase string

// The phases.
const (
	// PhasePending: observed, and nothing is installed yet.
	PhasePending Phase = "Pending"
	// PhaseDeploying: a change is being applied, rolled out, scaled or routed.
	PhaseDeploying Phase = "Deploying"
	// PhaseReady: all pods are ready with the desired specification, and every host
	// is routed.
	PhaseReady Phase = "Ready"
	// PhaseIdle: scaled to zero, as spec.replicas asks. No images are served.
	PhaseIdle Phase = "Idle"
	// PhaseDegraded: installed, and not all of it works.
	PhaseDegraded Phase = "Degraded"
	// PhaseFailed: refused, or could not be installed or upgraded.
	PhaseFailed Phase = "Failed"
	// PhaseTerminating: being deleted.
	PhaseTerminating Phase = "Terminating"
	// PhasePaused: the annotation AnnotationPaused suspends reconciliation.
	PhasePaused Phase = "Paused"
)
