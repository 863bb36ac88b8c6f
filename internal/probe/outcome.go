package probe

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/url"
	"regexp"
	"syscall"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// Outcome is the result of one probe. Outcomes are comparable, and the same cause yields the same outcome. They contain
// neither times nor addresses, and never the body of a source, which may be an internal service.
type Outcome struct {
	// Reason is v1alpha1.ReasonImageServed, or the reason of the failure.
	Reason string
	// Message explains the reason and the remedy.
	Message string
	// StatusCode is the HTTP status; 0 without a response.
	StatusCode int
}

// Served reports whether the image was served in the requested size.
func (o Outcome) Served() bool { return o.Reason == v1alpha1.ReasonImageServed }

// failed returns the outcome of a failed probe, with the finding and the remedy.
func (t Target) failed(reason, finding string) Outcome {
	advice := remedy(reason, t)
	if name := AdditionalSource(finding); t.Gate && name != "" {
		advice = RemedyOfAdditional(name) + "."
	}
	return Outcome{Reason: reason, Message: fmt.Sprintf("GET %s: %s. %s", shownPath(t.Path), finding, advice)}
}

var additionalSource = regexp.MustCompile(`\badditional source ([a-z0-9-]+): `)

// AdditionalSource returns the name of the additional source that caused a failure according to the gate; empty for the
// main source.
func AdditionalSource(detail string) string {
	if found := additionalSource.FindStringSubmatch(detail); found != nil {
		return found[1]
	}
	return ""
}

// shownPath returns the path and query of a probe, escaped and shortened.
func shownPath(path string) string {
	const limit = 200
	shown := (&url.URL{Path: path}).EscapedPath()
	if len(shown) > limit {
		shown = shown[:limit] + "…"
	}
	return shown + "?" + Query
}

// unanswered returns the outcome of a request without a response. connected is set if there was a connection to a pod.
func (t Target) unanswered(err error, connected bool) Outcome {
	timedOut := errors.Is(err, context.DeadlineExceeded)
	switch {
	case timedOut && connected:
		return t.failed(v1alpha1.ReasonSourceTimeout, fmt.Sprintf("no complete response within %s", t.Timeout))
	case timedOut:
		return t.failed(v1alpha1.ReasonUnreachable, fmt.Sprintf("no connection within %s", t.Timeout))
	case connected && errors.Is(err, syscall.ECONNRESET):
		return t.failed(v1alpha1.ReasonUnreachable,
			"the connection was reset, as by a service mesh that requires mutual TLS (docs/install.md, Service meshes)")
	case connected:
		return t.failed(v1alpha1.ReasonUnreachable, "the connection was closed without a complete response")
	}
	return t.failed(v1alpha1.ReasonUnreachable, "no connection: "+networkCause(err))
}

// mediaType returns the media type of a Content-Type header, or a placeholder if the header is missing, malformed or
// too long.
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
