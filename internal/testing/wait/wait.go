// Package wait waits, in tests of what runs elsewhere, until something is as it should
// be. Nothing sleeps and hopes.
package wait

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Permanent wraps an error that waiting does not cure: it ends the wait.
func Permanent(err error) error { return permanent{err} }

type permanent struct{ error }

func (p permanent) Unwrap() error { return p.error }

// Limits say how patient a wait is.
type Limits struct {
	// Patience is for how long to wait at the most.
	Patience time.Duration
	// Period is the time between two looks.
	Period time.Duration
}

// Until checks until nothing is wrong, patience ends, or the context does. The error
// says what was waited for, and what was wrong at the last look.
func (l Limits) Until(ctx context.Context, what string, check func(context.Context) error) error {
	deadline := time.NewTimer(l.Patience)
	defer deadline.Stop()
	ticker := time.NewTicker(l.Period)
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
			return fmt.Errorf("wait until %s: still not after %s: %w", what, l.Patience, err)
		case <-ticker.C:
		}
	}
}
