package limit

import (
	"context"
	"sync"
	"time"
)

// Shares limits concurrency: it divides a number of places among callers, so that none of
// them can take all.
type Shares struct {
	places  chan struct{}
	each    int
	queue   int
	timeout time.Duration

	mu      sync.Mutex
	callers map[string]*share
}

// share is the share of one caller.
type share struct {
	places chan struct{}
	// inside counts the requests that have or wait for a place.
	inside int
}

// NewShares returns shares of all places. A caller gets at most each places, and may have
// queue more requests that wait for at most timeout.
func NewShares(all, each, queue int, timeout time.Duration) *Shares {
	return &Shares{places: make(chan struct{}, all), each: each, queue: queue, timeout: timeout, callers: map[string]*share{}}
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
	for i, places := range []chan struct{}{own.places, s.places} {
		if err := enter(waiting, places); err != nil {
			if i > 0 {
				<-own.places
			}
			s.part(who, own)
			if ctx.Err() == nil {
				err = exceeded(time.Second)
			}
			return nil, err
		}
	}
	return sync.OnceFunc(func() {
		<-s.places
		<-own.places
		s.part(who, own)
	}), nil
}

// enter prefers a free place to a deadline that has passed.
func enter(ctx context.Context, places chan struct{}) error {
	select {
	case places <- struct{}{}:
		return nil
	default:
	}
	select {
	case places <- struct{}{}:
		return nil
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
