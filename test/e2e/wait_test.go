//go:build e2e

package e2e

import (
	"context"
	"testing"
	"time"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/wait"
)

// waitTimeout limits each wait. It is long because test machines are shared.
const waitTimeout = 2 * time.Minute

var limits = wait.Limits{Timeout: waitTimeout, Period: 100 * time.Millisecond}

// poll repeats a check until it succeeds, waitTimeout expires, or the context ends.
func poll(ctx context.Context, what string, check func(context.Context) error) error {
	return limits.Until(ctx, what, check)
}

// eventually waits until a check returns no error, and returns the duration. It fails at once if the operator has
// ended.
func eventually(t *testing.T, what string, check func(context.Context) error) time.Duration {
	t.Helper()
	started := time.Now()
	err := poll(t.Context(), what, func(ctx context.Context) error {
		if err := theOperator.Ended(); err != nil {
			return wait.Permanent(err)
		}
		return check(ctx)
	})
	must(t, err)
	return time.Since(started)
}

// must ends the test on an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
