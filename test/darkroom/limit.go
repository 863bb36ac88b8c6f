package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// limiter gives a source the time-out and the bulkhead of Darkroom's hystrix
// settings, but not its circuit breaker (see hystrixConfig).
type limiter struct {
	source  source
	timeout time.Duration
	places  chan struct{}
}

const (
	hystrixConcurrency = 10               // what an unset maximum means
	hystrixTimeout     = time.Second      // what an unset S3 time-out means
	httpTimeout        = 30 * time.Second // cannot be raised for web sources
)

var errTooMany = errors.New("hystrix: max concurrency")

func newLimiter(s source, kind sourceKind, c hystrixConfig) *limiter {
	if c.maxConcurrent <= 0 {
		c.maxConcurrent = hystrixConcurrency
	}
	switch {
	case kind == kindS3 && c.timeout <= 0:
		c.timeout = hystrixTimeout
	case kind != kindS3 && (c.timeout <= 0 || c.timeout > httpTimeout):
		c.timeout = httpTimeout
	}
	return &limiter{source: s, timeout: c.timeout, places: make(chan struct{}, c.maxConcurrent)}
}

func (l *limiter) get(ctx context.Context, path string) ([]byte, error) {
	select {
	case l.places <- struct{}{}:
		defer func() { <-l.places }()
	default:
		return nil, fmt.Errorf("get %s: %w", path, errTooMany)
	}
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	return l.source.get(ctx, path)
}
