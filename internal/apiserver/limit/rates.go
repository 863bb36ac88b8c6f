package limit

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"k8s.io/utils/lru"
)

// maxCallers limits the callers that Rates tracks. Beyond it, the least recently seen caller is dropped, and starts
// with a full burst when it returns.
const maxCallers = 4096

// Rates is a token bucket for each caller.
type Rates struct {
	limit rate.Limit
	burst int
	now   func() time.Time

	mu      sync.Mutex
	callers *lru.Cache
}

// NewRates returns buckets that contain up to burst tokens and gain perSecond tokens per second.
func NewRates(perSecond float64, burst int) *Rates {
	return &Rates{limit: rate.Limit(perSecond), burst: burst, now: time.Now, callers: lru.New(maxCallers)}
}

// reserve takes a token of a caller, and returns the time to wait for it. If that is longer than timeout, it takes no
// token.
func (r *Rates) reserve(who string, timeout time.Duration) (wait time.Duration, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	reservation := r.of(who).ReserveN(now, 1)
	if wait = reservation.DelayFrom(now); wait > timeout {
		reservation.CancelAt(now)
		return wait, false
	}
	return wait, true
}

// of returns the bucket of a caller. The lock must be held.
func (r *Rates) of(who string) *rate.Limiter {
	if found, ok := r.callers.Get(who); ok {
		return found.(*rate.Limiter)
	}
	limiter := rate.NewLimiter(r.limit, r.burst)
	r.callers.Add(who, limiter)
	return limiter
}

// Take takes a token of a caller, or returns a problem.
func (r *Rates) Take(who string) error {
	if wait, ok := r.reserve(who, 0); !ok {
		return exceeded(wait)
	}
	return nil
}

// Wait waits for a token of a caller. If that would take longer than timeout or the context, it returns a problem at
// once.
func (r *Rates) Wait(ctx context.Context, who string, timeout time.Duration) error {
	if deadline, ok := ctx.Deadline(); ok {
		timeout = max(min(timeout, time.Until(deadline)), 0)
	}
	wait, ok := r.reserve(who, timeout)
	if !ok {
		return exceeded(wait)
	}
	if wait == 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		r.Return(who)
		return ctx.Err()
	}
}

// Return gives back a token. A reservation cannot be canceled after its time, but taking a negative number of tokens
// adds them.
func (r *Rates) Return(who string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of(who).AllowN(r.now(), -1)
}
