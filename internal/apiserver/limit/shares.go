package limit

import (
	"cmp"
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// Shares limits concurrency: it divides a number of places among callers, so that none of
// them can take all.
type Shares struct {
	places  *semaphore.Weighted
	each    int
	queue   int
	timeout time.Duration

	mu      sync.Mutex
	callers map[string]*share
}

// share is the share of one caller.
type share struct {
	places *semaphore.Weighted
	// inside counts the requests that have or wait for a place.
	inside int
}

// NewShares returns shares of all places. A caller gets at most each places, and may have
// queue more requests that wait for at most timeout.
func NewShares(all, each, queue int, timeout time.Duration) *Shares {
	return &Shares{places: semaphore.NewWeighted(int64(all)), each: each, queue: queue, timeout: timeout, callers: map[string]*share{}}
}

// Enter waits for a place; leave releases it. The error is a problem, or that of the
// context.
//
// A caller waits for a place of its own share first, so that its requests never crowd the
// common queue.
func (s *Shares) Enter(ctx context.Context, who string) (leave func(), err error) {
	own, err := s.join(who)
	if err != nil {
		return nil, err
	}
	waiting, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	if err := enter(waiting, own.places); err != nil {
		s.part(who, own)
		return nil, cmp.Or(ctx.Err(), exceeded(time.Second))
	}
	if err := enter(waiting, s.places); err != nil {
		own.places.Release(1)
		s.part(who, own)
		return nil, cmp.Or(ctx.Err(), exceeded(time.Second))
	}
	return sync.OnceFunc(func() {
		s.places.Release(1)
		own.places.Release(1)
		s.part(who, own)
	}), nil
}

// enter prefers a free place to a deadline that has passed.
func enter(ctx context.Context, places *semaphore.Weighted) error {
	if places.TryAcquire(1) {
		return nil
	}
	return places.Acquire(ctx, 1)
}

func (s *Shares) join(who string) (*share, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	own, found := s.callers[who]
	if !found {
		own = &share{places: semaphore.NewWeighted(int64(s.each))}
		s.callers[who] = own
	}
	if own.inside >= s.each+s.queue {
		return nil, exceeded(time.Second)
	}
	own.inside++
	return own, nil
}

// part drops a caller without requests.
func (s *Shares) part(who string, own *share) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if own.inside--; own.inside == 0 {
		delete(s.callers, who)
	}
}
