package source

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/darkroom-operator/darkroom-operator/gate/problem"
)

// Read reads the body of a response, at most maxBytes. If that takes longer than ReadTimeout,
// it cancels ctx, which must be the context of the request.
func (r *Response) Read(ctx context.Context, cancel context.CancelCauseFunc, maxBytes int64) ([]byte, error) {
	if r.Length > maxBytes {
		return nil, tooLarge(maxBytes)
	}
	timer := time.AfterFunc(ReadTimeout, func() { cancel(context.DeadlineExceeded) })
	defer timer.Stop()
	body, err := r.readAll(maxBytes)
	if err != nil {
		var p *problem.Problem
		if errors.As(err, &p) {
			return nil, err
		}
		if context.Cause(ctx) == context.DeadlineExceeded { //nolint:errorlint // the value that was passed above
			err = context.DeadlineExceeded
		}
		return nil, Failure(err)
	}
	return body, nil
}

// readAll allocates once if the source told the length.
func (r *Response) readAll(maxBytes int64) ([]byte, error) {
	if r.Length >= 0 {
		body := make([]byte, r.Length)
		_, err := io.ReadFull(r.Body, body)
		return body, err
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBytes+1))
	if err == nil && int64(len(body)) > maxBytes {
		return nil, tooLarge(maxBytes)
	}
	return body, err
}

func tooLarge(maxBytes int64) error {
	return problem.New(http.StatusRequestEntityTooLarge, "the original exceeds %d bytes", maxBytes)
}
