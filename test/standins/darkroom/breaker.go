package main

import (
	"cmp"
	"errors"
	"sync"
	"time"
)

// Defaults of hystrix for settings that are unset.
const (
	breakerVolume  = 20
	breakerPercent = 50
	breakerSleep   = 5 * time.Second
	// breakerWindow is the time over which requests are counted.
	breakerWindow = 10 * time.Second
)

var errOpen = errors.New("hystrix: circuit open")

// breaker rejects requests to the source after too many have failed. Every kind of source
// has one.
type breaker struct {
	volume, percent int
	sleep           time.Duration

	mu sync.Mutex
	// seconds counts requests and failures of the last ten seconds.
	seconds [10]struct {
		second          int64
		total, failures int
	}
	// openUntil is when the next request may try again; zero while the breaker is closed.
	openUntil time.Time
}

func newBreaker(c hystrixConfig) *breaker {
	return &breaker{
		volume: cmp.Or(c.volume, breakerVolume), percent: cmp.Or(c.errorPercent, breakerPercent),
		sleep: cmp.Or(c.sleepWindow, breakerSleep),
	}
}

// allow reports an open breaker. One request per sleep window is let through.
func (b *breaker) allow(now time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.openUntil.IsZero() {
		return nil
	}
	if now.Before(b.openUntil) {
		return errOpen
	}
	b.openUntil = now.Add(b.sleep)
	return nil
}

func (b *breaker) done(now time.Time, failed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !failed && !b.openUntil.IsZero() {
		b.openUntil = time.Time{}
		clear(b.seconds[:])
		return
	}
	slot := &b.seconds[now.Unix()%int64(len(b.seconds))]
	if slot.second != now.Unix() {
		slot.second, slot.total, slot.failures = now.Unix(), 0, 0
	}
	slot.total++
	if failed {
		slot.failures++
	}
	var total, failures int
	for _, s := range b.seconds {
		if now.Unix()-s.second < int64(breakerWindow/time.Second) {
			total += s.total
			failures += s.failures
		}
	}
	if b.openUntil.IsZero() && total >= b.volume && failures*100 >= total*b.percent {
		b.openUntil = now.Add(b.sleep)
	}
}
