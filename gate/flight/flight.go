// Package flight runs one call for all requests of the same key.
package flight

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// Group shares calls by key. The zero value is ready for use.
type Group[T any] struct {
	mu    sync.Mutex
	calls map[string]*call[T]
}

type call[T any] struct {
	done    chan struct{}
	cancel  context.CancelFunc
	waiting int
	value   T
	err     error
}

// Do calls fn, or waits for the call that another request of the same key has started, and
// reports whether it was shared. The context of fn is canceled when all who wait for it
// have left; it has the values of the first one's context.
func (g *Group[T]) Do(ctx context.Context, key string, fn func(context.Context) (T, error)) (value T, shared bool, err error) {
	for {
		c, shared := g.join(ctx, key, fn)
		select {
		case <-c.done:
		case <-ctx.Done():
			g.leave(c)
			return value, shared, ctx.Err()
		}
		// A call that was joined while it was being canceled is repeated.
		if shared && errors.Is(c.err, context.Canceled) && ctx.Err() == nil {
			continue
		}
		return c.value, shared, c.err
	}
}

func (g *Group[T]) join(ctx context.Context, key string, fn func(context.Context) (T, error)) (*call[T], bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c, ok := g.calls[key]; ok {
		c.waiting++
		return c, true
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c := &call[T]{done: make(chan struct{}), cancel: cancel, waiting: 1}
	if g.calls == nil {
		g.calls = map[string]*call[T]{}
	}
	g.calls[key] = c
	go func() {
		defer func() {
			if r := recover(); r != nil {
				c.err = fmt.Errorf("panic: %v", r)
			}
			g.mu.Lock()
			delete(g.calls, key)
			g.mu.Unlock()
			cancel()
			close(c.done)
		}()
		c.value, c.err = fn(ctx)
	}()
	return c, false
}

func (g *Group[T]) leave(c *call[T]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c.waiting--; c.waiting == 0 {
		c.cancel()
	}
}
