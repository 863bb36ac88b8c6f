// Package problem defines the errors that clients see. A problem gets its kind where it arises; serve/status.go maps
// kinds to HTTP status codes.
package problem

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Kind is the kind of a problem.
type Kind string

// Kinds of problems.
const (
	// Internal is the kind of all other errors.
	Internal Kind = "internal"
	// Invalid: the request is invalid, or exceeds the limits for results.
	Invalid Kind = "invalid"
	// URLTooLong and MethodNotAllowed depend on the request alone.
	URLTooLong       Kind = "URL too long"
	MethodNotAllowed Kind = "method not allowed"
	// Forbidden: the signature is missing or invalid, or the source denies access.
	Forbidden Kind = "forbidden"
	// Expired: the signed URL has expired.
	Expired Kind = "expired"
	// CredentialsRefused: the source does not accept the gate's credentials.
	CredentialsRefused Kind = "credentials refused"
	// Missing: the source does not have the image.
	Missing Kind = "missing"
	// TooLarge: the original or the result exceeds a limit.
	TooLarge Kind = "too large"
	// NotAnImage: the source returned other content, such as a maintenance page.
	NotAnImage Kind = "not an image"
	// Untransformable: the image cannot be decoded.
	Untransformable Kind = "untransformable"
	// Busy: the gate or Darkroom has no capacity for the request. Another request may be admitted.
	Busy Kind = "busy"
	// SourceBusy: the source asked to retry later.
	SourceBusy Kind = "source busy"
	// UpstreamFailed: the source or Darkroom failed. TimedOut: it did not respond in time.
	UpstreamFailed Kind = "upstream failed"
	TimedOut       Kind = "timed out"
	// Loop: the source leads back to the gate.
	Loop Kind = "loop"
)

// IsFailure reports whether a part of the system failed, so that a retry may succeed.
func (k Kind) IsFailure() bool {
	switch k {
	case Internal, Busy, SourceBusy, UpstreamFailed, TimedOut, Loop:
		return true
	}
	return false
}

// IsAboutImage reports whether the image is gone or refused, so that known results must not be served.
func (k Kind) IsAboutImage() bool {
	return !k.IsFailure() && k != CredentialsRefused && k != NotAnImage
}

// Problem is an error that is reported to the client.
type Problem struct {
	Kind Kind
	// Detail is one sentence for users. It must not contain secrets or internal addresses.
	Detail string
	// RetryAfter is the time after which a retry may succeed; zero if unknown.
	RetryAfter time.Duration
	// Cause is logged, and not sent to clients.
	Cause error
}

// New returns a problem with a formatted detail.
func New(kind Kind, format string, args ...any) *Problem {
	return &Problem{Kind: kind, Detail: fmt.Sprintf(format, args...)}
}

// Because sets the cause.
func (p *Problem) Because(err error) *Problem {
	p.Cause = err
	return p
}

// Retry sets the time after which a retry may succeed.
func (p *Problem) Retry(after time.Duration) *Problem {
	p.RetryAfter = after
	return p
}

func (p *Problem) Error() string {
	if p.Cause == nil {
		return p.Detail
	}
	return fmt.Sprintf("%s: %v", p.Detail, p.Cause)
}

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.Cause }

// Of returns the problem that err wraps. Any other error becomes an internal problem, whose text is not sent to
// clients.
func Of(err error) *Problem {
	var p *Problem
	if errors.As(err, &p) {
		return p
	}
	return New(Internal, "internal error").Because(err)
}

// Is reports whether err is a problem of one of the kinds.
func Is(err error, kinds ...Kind) bool { return err != nil && slices.Contains(kinds, Of(err).Kind) }
