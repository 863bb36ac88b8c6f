// Package problem has the errors that clients see. A problem gets its kind where it arises; serve maps kinds to HTTP.
package problem

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Kind is what went wrong.
type Kind string

// Kinds of problems.
const (
	// Internal is any error without a kind of its own.
	Internal Kind = "internal"
	// Invalid requests have no meaning, or demand more of an image than the limits allow.
	Invalid Kind = "invalid"
	// URLTooLong and MethodNotAllowed are about the request alone.
	URLTooLong       Kind = "URL too long"
	MethodNotAllowed Kind = "method not allowed"
	// Forbidden is a signature that is missing or wrong, or an image that the source denies.
	Forbidden Kind = "forbidden"
	// Expired is a signed URL after its time.
	Expired Kind = "expired"
	// CredentialsRefused is a source that does not accept the credentials of the gate.
	CredentialsRefused Kind = "credentials refused"
	// Missing is an image that the source does not have.
	Missing Kind = "missing"
	// TooLarge is an original or a result beyond the limits.
	TooLarge Kind = "too large"
	// NotAnImage is any other content in place of an image, such as a page about maintenance.
	NotAnImage Kind = "not an image"
	// Untransformable is an image that cannot be decoded.
	Untransformable Kind = "untransformable"
	// Busy is a request for which the gate or Darkroom had no place. Another request may have one.
	Busy Kind = "busy"
	// SourceBusy is a source that asks to be left alone for a while.
	SourceBusy Kind = "source busy"
	// UpstreamFailed is a source or a Darkroom that failed, and TimedOut one that did not respond in time.
	UpstreamFailed Kind = "upstream failed"
	TimedOut       Kind = "timed out"
	// Loop is a source that leads back to the gate.
	Loop Kind = "loop"
)

// IsFailure reports whether a part of the system failed, so that the same request may succeed later.
func (k Kind) IsFailure() bool {
	switch k {
	case Internal, Busy, SourceBusy, UpstreamFailed, TimedOut, Loop:
		return true
	}
	return false
}

// IsAboutImage reports whether the image is gone, or has become one that is refused. A known result of it is not served
// any more.
func (k Kind) IsAboutImage() bool {
	return !k.IsFailure() && k != CredentialsRefused && k != NotAnImage
}

// Problem is an error that a client sees.
type Problem struct {
	Kind Kind
	// Detail is one sentence for people. It must not contain secrets or internal addresses.
	Detail string
	// RetryAfter is the time after which a retry may succeed; zero if it is not known.
	RetryAfter time.Duration
	// Cause is for the log only.
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

// Of returns the problem that err wraps. Any other error is an internal one, whose text is
// not sent to clients.
func Of(err error) *Problem {
	var p *Problem
	if errors.As(err, &p) {
		return p
	}
	return New(Internal, "internal error").Because(err)
}

// Is reports whether err is a problem of one of the kinds.
func Is(err error, kinds ...Kind) bool { return err != nil && slices.Contains(kinds, Of(err).Kind) }
