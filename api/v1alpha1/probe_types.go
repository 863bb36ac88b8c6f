package v1alpha1

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Probe is a request for an image that checks whether a Darkroom serves images. The operator sends it to the Darkroom
// periodically, and the kubelet sends it to each new pod until the image is served. The health check of Darkroom itself
// succeeds even if the source cannot be read.
//
// +kubebuilder:validation:XValidation:rule="!has(self.timeoutSeconds) || !has(self.periodSeconds) || self.timeoutSeconds <= self.periodSeconds",fieldPath=".timeoutSeconds",message="must not exceed periodSeconds"
type Probe struct {
	// path is the path of an image in the source, for example /photos/cat.jpg. It is requested with the parameter w=16:
	// by the operator from the Service of the Darkroom, and by the kubelet from each new pod. New pods do not become
	// ready unless the image is served, so choose an image that will not be removed. The image must be small, and at
	// most 16 times as wide as it is high. Special characters are escaped, so write spaces as spaces. A change of the
	// path replaces the pods.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="self.startsWith('/')",message="must start with '/', for example /photos/cat.jpg"
	// +kubebuilder:validation:XValidation:rule="size(bytes(self)) <= 1024",message="must be no longer than 1024 bytes"
	// +kubebuilder:validation:XValidation:rule="!self.matches('[?#]')",message="must be a path without '?' or '#': the operator adds the parameter w=16"
	// +kubebuilder:validation:XValidation:rule="!self.matches('[[:cntrl:]]')",message="must not contain control characters"
	// +kubebuilder:validation:XValidation:rule="!self.matches('//|/[.][.]?(/|$)')",message="must not contain empty, '.' or '..' segments"
	// +kubebuilder:validation:XValidation:rule="!(self in ['/ping', '/metrics'])",message="must be the path of an image: /ping and /metrics respond even when no image can be served"
	Path string `json:"path"`

	// periodSeconds is the interval between probes.
	// +optional
	// +default=60
	// +kubebuilder:validation:Minimum=10
	// +kubebuilder:validation:Maximum=86400
	PeriodSeconds *int32 `json:"periodSeconds,omitempty"`

	// timeoutSeconds is the timeout of a probe. It must not exceed periodSeconds. A
	// change replaces the pods.
	// +optional
	// +default=10
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=60
	TimeoutSeconds *int32 `json:"timeoutSeconds,omitempty"`

	// failureThreshold is the number of consecutive failed probes after which the
	// condition SourceReady becomes False. A successful probe makes it True again.
	// +optional
	// +default=3
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	FailureThreshold *int32 `json:"failureThreshold,omitempty"`
}

var forbiddenInProbePath = regexp.MustCompile(`[?#[:cntrl:]]|//|/[.][.]?(/|$)`)

// ValidateProbePath returns an error if a path cannot be probed. The CRD has the same rules. They are repeated because
// a resource may be older than a rule, and a path with ".." could escape from the Service when it is requested through
// the proxy of the Kubernetes API server.
func ValidateProbePath(path string) error {
	switch {
	case !strings.HasPrefix(path, "/"):
		return errors.New("must start with '/'")
	case len(path) > 1024:
		return errors.New("must be no longer than 1024 bytes")
	case forbiddenInProbePath.MatchString(path):
		return errors.New("must not contain '?', '#', control characters, or empty, '.' or '..' segments")
	case path == "/ping", path == "/metrics":
		return fmt.Errorf("must be the path of an image, not %s", path)
	}
	return nil
}
