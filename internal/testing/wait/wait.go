// Package wait waits, in tests of what runs elsewhere, until something is as it should
// be. Nothing sleeps and hopes.
package wait

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Permanent wraps an error that ends the wait at once.
func Permanent(err error) error { return permanent{err} }

type permanent struct{ error }

func (p permanent) Unwrap() error { return p.error }

// Limits are the limits of a wait.
type Limits struct {
	// Timeout is the longest time to wait.
	Timeout time.Duration
	// Period is the interval between checks.
	Period time.Duration
}

// Until repeats a check until it succeeds, the timeout expires or the context ends. The
// error names the expected state and the error of the last check.
func (l Limits) Until(ctx context.Context, what string, check func(context.Context) error) error {
	deadline := time.NewTimer(l.Timeout)
	defer deadline.Stop()
	ticker := time.NewTicker(l.Period)
	defer ticker.Stop()
	for {
		// Checks get the context without the timeout, so that the last one returns its own
		// error.
		err := check(ctx)
		var never permanent
		switch {
		case err == nil:
			return nil
		case errors.As(err, &never):
			return fmt.Errorf("wait until %s: %w", what, never.error)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait until %s: %w: %w", what, context.Cause(ctx), err)
		case <-deadline.C:
			return fmt.Errorf("wait until %s: still not after %s: %w", what, l.Timeout, err)
		case <-ticker.C:
		}
	}
}

// Responds returns an error unless a URL responds within two seconds, with a status.
func Responds(ctx context.Context, url string, status int) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != status {
		return fmt.Errorf("%s responds with %s", url, response.Status)
	}
	return nil
}
