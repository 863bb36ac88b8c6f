package probe

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// Outcome is the result of one probe. Outcomes are comparable, and alike for alike causes:
// they hold neither times nor addresses. They hold the HTTP status and the content type of
// the response, but never the body of a source, which may point to an internal service.
type Outcome struct {
	// Reason is v1alpha1.ReasonImageServed, or the reason why not.
	Reason string
	// Message is the reason in a sentence, with a remedy.
	Message string
	// StatusCode is the HTTP status; 0 without a response.
	StatusCode int
	// ContentType is the media type of the response; empty without one.
	ContentType string
}

// Served reports whether the image was served as it should be.
func (o Outcome) Served() bool { return o.Reason == v1alpha1.ReasonImageServed }

// answered reports whether there was a response at all.
func (o Outcome) answered() bool { return o.StatusCode != 0 }

// failed returns the outcome of a probe that failed: what was found, and the remedy.
func (t Target) failed(reason, finding string) Outcome {
	return Outcome{
		Reason:  reason,
		Message: fmt.Sprintf("GET %s: %s. %s", shownPath(t.Path), finding, remedy(reason, t)),
	}
}

// shownPath is the request line of a probe, escaped and cut to a readable length.
func shownPath(path string) string {
	const limit = 200
	shown := (&url.URL{Path: path}).EscapedPath()
	if len(shown) > limit {
		shown = shown[:limit] + "…"
	}
	return shown + "?" + query
}

// classify returns the reason for an HTTP status other than 200. It is the status of
// the source where Darkroom passes that on (S3, Google Cloud Storage, 403 of
// CloudFront), and 422 for most other faults. A gate returns 413 and 415 for originals that
// Darkroom should not or cannot process, and 504 for a source that is too slow.
func classify(status int) string {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return v1alpha1.ReasonSourceDenied
	case status == http.StatusNotFound, status == http.StatusGone:
		return v1alpha1.ReasonImageNotFound
	case status == http.StatusUnprocessableEntity, status == http.StatusRequestEntityTooLarge, status == http.StatusUnsupportedMediaType:
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

// unanswered returns the outcome of a request without a response. Connected reports
// whether there was a connection to a pod.
func (t Target) unanswered(err error, connected bool) Outcome {
	timedOut := errors.Is(err, context.DeadlineExceeded)
	switch {
	case timedOut && connected:
		return t.failed(v1alpha1.ReasonSourceTimeout, fmt.Sprintf("no complete response within %s", t.Timeout))
	case timedOut:
		return t.failed(v1alpha1.ReasonUnreachable, fmt.Sprintf("no connection within %s", t.Timeout))
	case connected:
		return t.failed(v1alpha1.ReasonUnreachable, "the connection was closed without a complete response")
	}
	return t.failed(v1alpha1.ReasonUnreachable, "no connection: "+networkCause(err))
}

// mediaType is the media type of a Content-Type header, or a word for one that is
// missing, malformed or too long to be shown.
func mediaType(header string) string {
	if header == "" {
		return "none"
	}
	kind, _, err := mime.ParseMediaType(header)
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) || len(kind) > 64 {
		return "invalid"
	}
	return kind
}
