// Package wait waits in tests until a condition is met, instead of sleeping for a fixed time.
package wait

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Permanent wraps an error that ends the wait at once.
func Permanent(err error) error { return permanent{err} }

type permanent struct{ error }

func (p permanent) Unwrap() error { return p.error }

// Patience is the timeout for conditions that take a second or less on an idle machine. Overloaded machines are much
// slower.
const Patience = 5 * time.Minute

// Limits are the limits of a wait.
type Limits struct {
	// Timeout is the maximum time to wait.
	Timeout time.Duration
	// Period is the first interval between checks. The interval grows up to longestPeriod, because checks use resources
	// of the API server that the test waits for.
	Period time.Duration
}

const (
	longestPeriod = 250 * time.Millisecond
	// growth limits the time that a test waits unnecessarily to a quarter of the necessary time.
	growth = 1.25
)

// Until repeats a check until it succeeds, the timeout expires or the context ends. The error contains the expected
// state and the error of the last check.
func (l Limits) Until(ctx context.Context, what string, check func(context.Context) error) error {
	var last error
	limited, cancel := context.WithTimeout(ctx, l.Timeout)
	defer cancel()
	periods := wait.Backoff{Duration: l.Period, Factor: growth, Cap: max(l.Period, longestPeriod), Steps: math.MaxInt}
	err := periods.DelayFunc().Until(limited, true, false, func(context.Context) (bool, error) {
		// Checks receive the context without the timeout, so that the last check returns its own error.
		last = check(ctx)
		var never permanent
		if errors.As(last, &never) {
			return false, never.error
		}
		return last == nil, nil
	})
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("wait until %s: %w: %w", what, context.Cause(ctx), last)
	case wait.Interrupted(err):
		return fmt.Errorf("wait until %s: still not after %s: %w", what, l.Timeout, last)
	default:
		return fmt.Errorf("wait until %s: %w", what, err)
	}
}

// Responds returns an error unless a URL responds with a status within ten seconds.
func Responds(ctx context.Context, url string, status int) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
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
