package apiserver

import (
	"math"
	"sync"

	"golang.org/x/time/rate"
	"k8s.io/utils/lru"
)

// maxLimited bounds how many callers the limiter remembers. The one who was away for
// longest is forgotten first, and starts with a full burst.
const maxLimited = 4096

// limiter defends the server, and the cluster behind it, against one caller who takes
// it all.
type limiter struct {
	each  rate.Limit
	burst int

	mu      sync.Mutex
	callers *lru.Cache
}

func newLimiter(perSecond float64, burst int) *limiter {
	return &limiter{each: rate.Limit(perSecond), burst: burst, callers: lru.New(maxLimited)}
}

// take uses up one request of a caller, or returns the problem of having none left.
func (l *limiter) take(who string) error {
	l.mu.Lock()
	found, ok := l.callers.Get(who)
	if !ok {
		found = rate.NewLimiter(l.each, l.burst)
		l.callers.Add(who, found)
	}
	l.mu.Unlock()
	reservation := found.(*rate.Limiter).Reserve()
	if wait := reservation.Delay(); wait > 0 {
		reservation.Cancel()
		return tooMany("you ask too often: wait", int(math.Ceil(wait.Seconds())))
	}
	return nil
}

// seats defends against one caller who opens streams without end.
type seats struct {
	each int

	mu    sync.Mutex
	taken map[string]int
}

func newSeats(each int) *seats {
	return &seats{each: each, taken: map[string]int{}}
}

// enter takes a seat, if the caller may have one more. leave gives it back.
func (s *seats) enter(who string) (leave func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken[who] >= s.each {
		return nil, false
	}
	s.taken[who]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.taken[who]--; s.taken[who] == 0 {
			delete(s.taken, who)
		}
	}, true
}
