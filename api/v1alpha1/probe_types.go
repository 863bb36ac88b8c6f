package v1alpha1

// Probe is a request for an image that the operator sends to the Darkroom at
// intervals, to check that it serves images. The health check of Darkroom itself
// succeeds even if the source cannot be read.
//
// +kubebuilder:validation:XValidation:rule="!has(self.timeoutSeconds) || !has(self.periodSeconds) || self.timeoutSeconds <= self.periodSeconds",fieldPath=".timeoutSeconds",message="must not exceed periodSeconds"
type Probe struct {
	// Path is the path of an image in the source, for example /photos/cat.jpg. The
	// operator requests it from the Service of the Darkroom with the parameter w=16.
	// Choose a small image, at most 16 times as wide as it is high. The operator
	// escapes special characters, so write spaces as spaces.
	// +required
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.startsWith('/')",message="must start with '/', for example /photos/cat.jpg"
	// +kubebuilder:validation:XValidation:rule="size(bytes(self)) <= 1024",message="must be no longer than 1024 bytes"
	// +kubebuilder:validation:XValidation:rule="!self.matches('[?#]')",message="must be a path without '?' or '#': the operator adds the parameter w=16"
	// +kubebuilder:validation:XValidation:rule="!self.matches('[[:cntrl:]]')",message="must not contain control characters"
	// +kubebuilder:validation:XValidation:rule="!self.matches('//|/[.][.]?(/|$)')",message="must not contain empty, '.' or '..' segments"
	// +kubebuilder:validation:XValidation:rule="!(self in ['/ping', '/metrics'])",message="must be the path of an image: /ping and /metrics are answered even when no image can be served"
	Path string `json:"path"`

	// PeriodSeconds is the interval between probes.
	// +optional
	// +kubebuilder:default=60
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=86400
	PeriodSeconds *int32 `json:"periodSeconds,omitempty"`

	// TimeoutSeconds is the timeout of a probe. It must not exceed periodSeconds.
	// +optional
	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=60
	TimeoutSeconds *int32 `json:"timeoutSeconds,omitempty"`

	// FailureThreshold is the number of consecutive failed probes after which the
	// condition SourceReady becomes False. A successful probe makes it True again.
	// +optional
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	FailureThreshold *int32 `json:"failureThreshold,omitempty"`
}
