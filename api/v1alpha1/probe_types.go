package v1alpha1

// Probe is an image that the operator requests from the Darkroom at intervals, to
// find out whether images are served. Darkroom itself reports that it is healthy
// while it can reach no image at all.
//
// +kubebuilder:validation:XValidation:rule="!has(self.timeoutSeconds) || !has(self.periodSeconds) || self.timeoutSeconds <= self.periodSeconds",fieldPath=".timeoutSeconds",message="must not be more than periodSeconds"
type Probe struct {
	// Path is the path of an image in the source, for example /photos/cat.jpg. It
	// is requested from the Darkroom's Service with the parameter w=16, so a small
	// image is best, and it must not be more than 16 times as wide as it is high.
	// Characters that are special in URLs are escaped by the operator: write a space
	// as a space.
	// +required
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.startsWith('/')",message="must start with '/', for example /photos/cat.jpg"
	// +kubebuilder:validation:XValidation:rule="size(bytes(self)) <= 1024",message="must be no longer than 1024 bytes"
	// +kubebuilder:validation:XValidation:rule="!self.matches('[?#]')",message="must be a path without '?' or '#': the operator adds the parameter w=16"
	// +kubebuilder:validation:XValidation:rule="!self.matches('[[:cntrl:]]')",message="must have no control characters"
	// +kubebuilder:validation:XValidation:rule="!self.matches('//|/[.][.]?(/|$)')",message="must have no empty, '.' or '..' segments"
	// +kubebuilder:validation:XValidation:rule="!(self in ['/ping', '/metrics'])",message="must be the path of an image: /ping and /metrics are answered even when no image can be served"
	Path string `json:"path"`

	// PeriodSeconds is the time between two probes.
	// +optional
	// +kubebuilder:default=60
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=86400
	PeriodSeconds *int32 `json:"periodSeconds,omitempty"`

	// TimeoutSeconds is the time within which the image must be served. It must not
	// be more than periodSeconds.
	// +optional
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=60
	TimeoutSeconds *int32 `json:"timeoutSeconds,omitempty"`

	// FailureThreshold is the number of consecutive failed probes after which the
	// condition SourceReady becomes False. One that succeeds makes it True again.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	FailureThreshold *int32 `json:"failureThreshold,omitempty"`
}
