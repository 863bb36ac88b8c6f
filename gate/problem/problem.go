// Package problem holds the errors that clients see, as problem details of RFC 9457.
package problem

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// missingLifetime is the time for which it may be kept that an image is missing.
const missingLifetime = 5 * time.Second

// Problem is an error with the response that it leads to.
type Problem struct {
	// Status is the HTTP status of the response.
	Status int
	// Detail is one sentence for people. It must not contain secrets or internal addresses.
	Detail string
	// RetryAfter is the time after which a retry may succeed; zero omits the header.
	RetryAfter time.Duration
	// Unrelated is set if the failure says nothing about the image, such as expired credentials or a maintenance page.
	// A known image is still served then.
	Unrelated bool
	// Busy is set if the gate had no place for the request, which says nothing of others.
	Busy bool
	// Cause is for the log only.
	Cause error
}

// New returns a problem with a status and a formatted detail.
func New(status int, format string, args ...any) *Problem {
	return &Problem{Status: status, Detail: fmt.Sprintf(format, args...)}
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
	return New(http.StatusInternalServerError, "internal error").Because(err)
}

// Write sends the problem.
func (p *Problem) Write(w http.ResponseWriter, r *http.Request) {
	body, _ := json.Marshal(map[string]any{ // strings and numbers can always be encoded
		"type": "about:blank", "title": http.StatusText(p.Status), "status": p.Status, "detail": p.Detail,
	})
	header := w.Header()
	header.Set("Content-Type", "application/problem+json")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	header.Set("Cache-Control", "no-store")
	if p.Status == http.StatusNotFound { // so that CDNs answer when many ask for what is missing
		header.Set("Cache-Control", "public, max-age="+strconv.Itoa(int(missingLifetime/time.Second)))
	}
	header.Set("X-Content-Type-Options", "nosniff")
	if p.RetryAfter > 0 {
		header.Set("Retry-After", strconv.Itoa(int(max(p.RetryAfter, time.Second)/time.Second)))
	}
	w.WriteHeader(p.Status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body)
	}
}
