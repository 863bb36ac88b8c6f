//go:build e2e

package e2e

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

const (
	// patience is for how long a test waits for what should take seconds: machines
	// that run tests are shared.
	patience = 2 * time.Minute
	// repairPatience is for how long a repair may take that should take a second.
	repairPatience = 30 * time.Second
	// pollPeriod is the time between two looks at what is waited for.
	pollPeriod = 100 * time.Millisecond
)

// permanent is an error that waiting does not cure.
type permanent struct{ error }

func (p permanent) Unwrap() error { return p.error }

// poll checks until nothing is wrong, patience ends, or the context does.
func poll(ctx context.Context, what string, check func(context.Context) error) error {
	return pollWithin(ctx, patience, what, check)
}

func pollWithin(ctx context.Context, limit time.Duration, what string, check func(context.Context) error) error {
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	ticker := time.NewTicker(pollPeriod)
	defer ticker.Stop()
	for {
		// Checks get the context without the limit: the last one should tell what is
		// wrong, not that its time is up.
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
			return fmt.Errorf("wait until %s: %w: %w", what, ctx.Err(), err)
		case <-deadline.C:
			return fmt.Errorf("wait until %s: still not after %s: %w", what, limit, err)
		case <-ticker.C:
		}
	}
}

// eventually waits until a check finds nothing wrong, and returns for how long it
// waited.
func eventually(t *testing.T, what string, check func(context.Context) error) time.Duration {
	t.Helper()
	return within(t, patience, what, check)
}

// within is eventually with another patience.
func within(t *testing.T, limit time.Duration, what string, check func(context.Context) error) time.Duration {
	t.Helper()
	started := time.Now()
	err := pollWithin(t.Context(), limit, what, func(ctx context.Context) error {
		if err := theOperator.ended(); err != nil {
			return permanent{err}
		}
		return check(ctx)
	})
	if err != nil {
		t.Fatal(err)
	}
	return time.Since(started)
}
