package main

import (
	"errors"
	"sync"
	"time"
)

var errOpen = errors.New("hystrix: circuit open")

// breaker rejects requests to the source after too many have failed. Every kind of source has a breaker.
type breaker struct {
	hystrixConfig

	mu sync.Mutex
	// seconds counts requests and failures of the last ten seconds.
	seconds [10]struct {
		second          int64
		total, failures int
	}
	// openUntil is the time from which a request may try again; zero while the breaker is closed.
	openUntil time.Time
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
	b.openUntil = now.Add(b.sleepWindow)
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
		if now.Unix()-s.second < int64(len(b.seconds)) {
			total += s.total
			failures += s.failures
		}
	}
	if b.openUntil.IsZero() && total >= b.volume && failures*100 >= total*b.errorPercent {
		b.openUntil = now.Add(b.sleepWindow)
	}
}
