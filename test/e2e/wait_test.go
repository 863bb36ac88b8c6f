//go:build e2e

package e2e

import (
	"context"
	"testing"
	"time"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/wait"
)

const (
	// waitTimeout bounds each wait. It is long because test machines are shared.
	waitTimeout = 2 * time.Minute
	// pollPeriod is the time between two checks.
	pollPeriod = 100 * time.Millisecond
)

// poll checks until nothing is wrong, waitTimeout ends, or the context does.
func poll(ctx context.Context, what string, check func(context.Context) error) error {
	return wait.Limits{Timeout: waitTimeout, Period: pollPeriod}.Until(ctx, what, check)
}

// eventually waits until a check finds nothing wrong, and returns for how long it
// waited.
func eventually(t *testing.T, what string, check func(context.Context) error) time.Duration {
	t.Helper()
	return within(t, waitTimeout, what, check)
}

// within is eventually with another timeout.
func within(t *testing.T, limit time.Duration, what string, check func(context.Context) error) time.Duration {
	t.Helper()
	started := time.Now()
	err := wait.Limits{Timeout: limit, Period: pollPeriod}.Until(t.Context(), what, func(ctx context.Context) error {
		if err := theOperator.ended(); err != nil {
			return wait.Permanent(err)
		}
		return check(ctx)
	})
	if err != nil {
		t.Fatal(err)
	}
	return time.Since(started)
}
