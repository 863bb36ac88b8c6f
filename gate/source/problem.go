package source

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/darkroom-operator/darkroom-operator/gate/problem"
)

const (
	// retryAfter is sent to clients while the source fails.
	retryAfter = 10 * time.Second
	// maxRetryAfter limits the Retry-After of a source.
	maxRetryAfter = time.Hour
)

// problemOfStatus returns the problem for the status of a response, or nil if the response contains the whole original.
func problemOfStatus(response *http.Response) *problem.Problem {
	switch status := response.StatusCode; status {
	case http.StatusOK, http.StatusNonAuthoritativeInfo:
		return nil
	case http.StatusPartialContent:
		if isWhole(response.Header.Get("Content-Range")) {
			return nil
		}
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		after, err := strconv.Atoi(response.Header.Get("Retry-After"))
		if err != nil {
			after = int(retryAfter / time.Second)
		}
		return problem.New(problem.SourceBusy, "the source is busy; it responded with status %d", status).
			Retry(min(max(time.Duration(after), 1), maxRetryAfter/time.Second) * time.Second)
	case http.StatusNotFound, http.StatusGone:
		return problem.New(problem.Missing, "the source has no image at this path")
	case http.StatusUnauthorized, http.StatusForbidden:
		return problem.New(problem.Forbidden, "the source denies access to this image")
	}
	return problem.New(problem.UpstreamFailed, "the source responded with status %d", response.StatusCode).
		Retry(retryAfter)
}

// isWhole reports whether a Content-Range covers all bytes.
func isWhole(contentRange string) bool {
	var last, length int64
	n, err := fmt.Sscanf(contentRange, "bytes 0-%d/%d", &last, &length)
	return n == 2 && err == nil && last == length-1
}

// Failure returns the problem for a failed request or body.
func Failure(err error) error {
	var timeout net.Error
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, errForbidden):
		return problem.New(problem.UpstreamFailed, "the source is at an address that is not allowed").Because(err)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return problem.New(problem.TimedOut, "the source did not respond in time").Because(err).Retry(retryAfter)
	}
	return problem.New(problem.UpstreamFailed, "the source cannot be reached or ended the response early").
		Because(err).Retry(retryAfter)
}
