package limit

import (
	"context"
	"sync"
	"time"
)

// Shares divides a number of places among callers, so that none of them can take all.
type Shares struct {
	places   chan struct{}
	each     int
	queue    int
	patience time.Duration

	mu      sync.Mutex
	callers map[string]*share
}

// share is what one caller has.
type share struct {
	places chan struct{}
	// inside counts those who have a place, or wait for one.
	inside int
}

// NewShares returns places for all callers together, of which each caller may have
// some, and may wait with some more requests for at most patience.
func NewShares(all, each, queue int, patience time.Duration) *Shares {
	return &Shares{places: make(chan struct{}, all), each: each, queue: queue, patience: patience, callers: map[string]*share{}}
}

// Enter returns once the caller has a place; leave gives it back. The error is
// *Exceeded, or that of the context.
//
// A caller waits for a place of its own share first. So one with many requests never
// has more than its share of those who wait for the places of all.
func (s *Shares) Enter(ctx context.Context, who string) (leave func(), err error) {
	own, err := s.join(who)
	if err != nil {
		return nil, err
	}
	late, stop := s.timeout()
	defer stop()
	for i, places := range []chan struct{}{own.places, s.places} {
		if err := enter(ctx, places, late); err != nil {
			if i > 0 {
				<-own.places
			}
			s.part(who, own)
			return nil, err
		}
	}
	return sync.OnceFunc(func() {
		<-s.places
		<-own.places
		s.part(who, own)
	}), nil
}

// timeout returns a channel that is ready after patience.
func (s *Shares) timeout() (late <-chan time.Time, stop func() bool) {
	timer := time.NewTimer(s.patience)
	return timer.C, timer.Stop
}

// enter prefers a free place to a deadline that has passed.
func enter(ctx context.Context, places chan struct{}, late <-chan time.Time) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	select {
	case places <- struct{}{}:
		return nil
	default:
	}
	select {
	case places <- struct{}{}:
		return nil
	case <-late:
		return &Exceeded{RetryAfter: time.Second}
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *Shares) join(who string) (*share, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	own, found := s.callers[who]
	if !found {
		own = &share{places: make(chan struct{}, s.each)}
		s.callers[who] = own
	}
	if own.inside >= s.each+s.queue {
		return nil, &Exceeded{RetryAfter: time.Second}
	}
	own.inside++
	return own, nil
}

// part forgets a caller who has nothing left here.
func (s *Shares) part(who string, own *share) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if own.inside--; own.inside == 0 {
		delete(s.callers, who)
	}
}
