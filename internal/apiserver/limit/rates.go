package limit

import (
	"context"
	"sync"
	"time"

	"k8s.io/utils/lru"
)

// maxCallers bounds how many callers Rates remembers. The one that was inactive for
// longest is forgotten first, and starts with a full burst.
const maxCallers = 4096

// Rates is a token bucket for each caller.
type Rates struct {
	perSecond float64
	burst     float64
	now       func() time.Time

	mu      sync.Mutex
	buckets *lru.Cache
}

// bucket is negative while callers wait for tokens that are still to come.
type bucket struct {
	tokens float64
	filled time.Time
}

// NewRates returns buckets that hold burst tokens and gain perSecond tokens a second.
func NewRates(perSecond float64, burst int) *Rates {
	return &Rates{perSecond: perSecond, burst: float64(burst), now: time.Now, buckets: lru.New(maxCallers)}
}

// reserve takes n tokens of a caller, and returns how long to wait for them. It takes none
// if that is longer than timeout.
func (r *Rates) reserve(who string, n float64, timeout time.Duration) (wait time.Duration, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	b := r.bucket(who, now)
	if short := n - b.tokens; short > 0 {
		wait = time.Duration(short / r.perSecond * float64(time.Second))
	}
	if wait > timeout {
		return wait, false
	}
	b.tokens -= n
	return wait, true
}

// bucket needs the lock.
func (r *Rates) bucket(who string, now time.Time) *bucket {
	found, ok := r.buckets.Get(who)
	if !ok {
		b := &bucket{tokens: r.burst, filled: now}
		r.buckets.Add(who, b)
		return b
	}
	b := found.(*bucket)
	b.tokens = min(r.burst, b.tokens+now.Sub(b.filled).Seconds()*r.perSecond)
	b.filled = now
	return b
}

// Take takes a token of a caller, or returns *Exceeded.
func (r *Rates) Take(who string) error {
	if wait, ok := r.reserve(who, 1, 0); !ok {
		return &Exceeded{RetryAfter: wait}
	}
	return nil
}

// Wait takes a token of a caller as soon as there is one. It returns *Exceeded at once if
// that takes longer than timeout or the context.
func (r *Rates) Wait(ctx context.Context, who string, timeout time.Duration) error {
	if deadline, ok := ctx.Deadline(); ok {
		timeout = max(min(timeout, time.Until(deadline)), 0)
	}
	wait, ok := r.reserve(who, 1, timeout)
	if !ok {
		return &Exceeded{RetryAfter: wait}
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

// Return gives back a token that turned out not to be needed.
func (r *Rates) Return(who string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.bucket(who, r.now())
	b.tokens = min(r.burst, b.tokens+1)
}
