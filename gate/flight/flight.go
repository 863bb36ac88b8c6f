// Package flight runs one call for all requests of the same key.
package flight

import (
	"context"
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
	g.mu.Lock()
	c, shared := g.calls[key]
	if !shared {
		c = g.start(ctx, key, fn)
	}
	c.waiting++
	g.mu.Unlock()
	select {
	case <-c.done:
		return c.value, shared, c.err
	case <-ctx.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if c.waiting--; c.waiting == 0 {
		c.cancel()
		g.forget(key, c) // who comes now needs another call
	}
	return value, shared, ctx.Err()
}

func (g *Group[T]) start(ctx context.Context, key string, fn func(context.Context) (T, error)) *call[T] {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c := &call[T]{done: make(chan struct{}), cancel: cancel}
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
			g.forget(key, c)
			g.mu.Unlock()
			cancel()
			close(c.done)
		}()
		c.value, c.err = fn(ctx)
	}()
	return c
}

func (g *Group[T]) forget(key string, c *call[T]) {
	if g.calls[key] == c {
		delete(g.calls, key)
	}
}
