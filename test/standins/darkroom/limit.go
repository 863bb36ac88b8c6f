package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

// limiter implements the timeout, bulkhead and circuit breaker of Darkroom's hystrix settings.
type limiter struct {
	source  source
	breaker *breaker
	timeout time.Duration
	places  chan struct{}
}

const (
	hystrixTimeout = time.Second      // used if the S3 timeout is unset
	httpTimeout    = 30 * time.Second // upper bound for web sources
)

var errTooMany = errors.New("hystrix: max concurrency")

func newLimiter(s source, c config) *limiter {
	timeout := cmp.Or(c.hystrix.timeout, hystrixTimeout)
	if !c.isS3() {
		timeout = min(cmp.Or(c.hystrix.timeout, httpTimeout), httpTimeout)
	}
	return &limiter{
		source: s, breaker: &breaker{hystrixConfig: c.hystrix}, timeout: timeout,
		places: make(chan struct{}, c.hystrix.maxConcurrent),
	}
}

func (l *limiter) get(ctx context.Context, path string) ([]byte, error) {
	if err := l.breaker.allow(time.Now()); err != nil {
		return nil, fmt.Errorf("get %s: %w", path, err)
	}
	select {
	case l.places <- struct{}{}:
		defer func() { <-l.places }()
	default:
		l.breaker.done(time.Now(), true)
		return nil, fmt.Errorf("get %s: %w", path, errTooMany)
	}
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	body, err := l.source(ctx, path)
	l.breaker.done(time.Now(), err != nil)
	return body, err
}
