package probe

import (
	"net/http"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// Classify returns the reason for an HTTP status other than 200. Darkroom passes on the status of S3 and Google Cloud
// Storage, and status 403 of CloudFront. For most other failures it responds with 422. A gate responds with 413 and 415
// to originals that Darkroom should not or cannot process, and with 504 if a source is too slow.
func Classify(status int) string {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return v1alpha1.ReasonSourceDenied
	case status == http.StatusNotFound, status == http.StatusGone:
		return v1alpha1.ReasonImageNotFound
	case status == http.StatusUnprocessableEntity, status == http.StatusRequestEntityTooLarge,
		status == http.StatusUnsupportedMediaType:
		return v1alpha1.ReasonImageUnprocessable
	case status == http.StatusGatewayTimeout:
		return v1alpha1.ReasonSourceTimeout
	case status >= 300 && status < 400:
		return v1alpha1.ReasonSourceRedirected
	case status >= 400 && status < 500:
		return v1alpha1.ReasonSourceRejected
	case status >= 500:
		return v1alpha1.ReasonSourceFailing
	}
	return v1alpha1.ReasonNotAnImage
}
