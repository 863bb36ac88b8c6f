package limit

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// Shares limits concurrency. It divides a number of places among callers, so that neither one caller nor the
// ServiceAccounts of one namespace can take all.
type Shares struct {
	places  *semaphore.Weighted
	each    int
	group   int
	queue   int
	timeout time.Duration

	mu      sync.Mutex
	callers map[string]*share
	groups  map[string]*share
}

// share is the share of one caller or namespace.
type share struct {
	places *semaphore.Weighted
	// inside is the number of requests that have a place or wait for one.
	inside int
}

// Places are the limits of Shares.
type Places struct {
	// All is the total number of places, and Each the limit of one caller.
	All, Each int
	// PerNamespace is the limit of all ServiceAccounts of a namespace; 0 means All.
	PerNamespace int
	// Queue is the maximum number of waiting requests of each caller, and Wait their maximum waiting time.
	Queue int
	Wait  time.Duration
}

// NewShares returns Shares with no places taken.
func NewShares(places Places) *Shares {
	return &Shares{
		places: semaphore.NewWeighted(int64(places.All)), each: places.Each, group: cmp.Or(places.PerNamespace, places.All),
		queue: places.Queue, timeout: places.Wait, callers: map[string]*share{}, groups: map[string]*share{},
	}
}

const accountPrefix = "system:serviceaccount:"

// NamespaceOf returns the namespace of a ServiceAccount; empty for other callers.
func NamespaceOf(who string) string {
	account, found := strings.CutPrefix(who, accountPrefix)
	if !found {
		return ""
	}
	namespace, _, _ := strings.Cut(account, ":")
	return namespace
}

// Enter waits for a place, which is released by leave. The error is a problem, or the error of the context.
//
// A request waits in the share of its caller first, then in the share of its namespace, so that it cannot fill the
// queue of all callers.
func (s *Shares) Enter(ctx context.Context, who string) (leave func(), err error) {
	own, err := s.join(s.callers, who, s.each, s.each+s.queue)
	if err != nil {
		return nil, err
	}
	leaves := []func(){func() { s.part(s.callers, who, own) }}
	leave = func() {
		for _, each := range slices.Backward(leaves) {
			each()
		}
	}
	waiting, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	take := func(places *semaphore.Weighted) error {
		if err := enter(waiting, places); err != nil {
			leave()
			return cmp.Or(ctx.Err(), exceeded(time.Second))
		}
		leaves = append(leaves, func() { places.Release(1) })
		return nil
	}
	if err := take(own.places); err != nil {
		return nil, err
	}
	if namespace := NamespaceOf(who); namespace != "" {
		group, err := s.join(s.groups, namespace, s.group, math.MaxInt)
		if err != nil {
			leave()
			return nil, err
		}
		leaves = append(leaves, func() { s.part(s.groups, namespace, group) })
		if err := take(group.places); err != nil {
			return nil, err
		}
	}
	if err := take(s.places); err != nil {
		return nil, err
	}
	return sync.OnceFunc(leave), nil
}

// enter takes a free place even if the context is done.
func enter(ctx context.Context, places *semaphore.Weighted) error {
	if places.TryAcquire(1) {
		return nil
	}
	return places.Acquire(ctx, 1)
}

// join adds a request to a share, unless too many requests have a place or wait for one.
func (s *Shares) join(shares map[string]*share, who string, places, most int) (*share, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	own, found := shares[who]
	if !found {
		own = &share{places: semaphore.NewWeighted(int64(places))}
		shares[who] = own
	}
	if own.inside >= most {
		return nil, exceeded(time.Second)
	}
	own.inside++
	return own, nil
}

// part removes a request from a share, and drops an empty share.
func (s *Shares) part(shares map[string]*share, who string, own *share) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if own.inside--; own.inside == 0 {
		delete(shares, who)
	}
}
