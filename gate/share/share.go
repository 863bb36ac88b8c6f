// Package share runs a function once for concurrent callers with the same key.
package share

import (
	"context"
	"sync"

	"github.com/darkroom-operator/darkroom-operator/gate/fairqueue"
)

// Group creates values by key, and keeps each value while it is used. The zero value is ready to use, and the methods
// are safe for concurrent use.
type Group[K comparable, V any] struct {
	// Drop, if set, is called once with each created value when it is no longer used.
	Drop func(V)

	mu   sync.Mutex
	runs map[K]*run[V]
}

type run[V any] struct {
	// ready is closed when value and err are set.
	ready  chan struct{}
	value  V
	err    error
	cancel context.CancelFunc
	join   func(context.Context)
	// holders is the number of callers that wait for the value or use it.
	holders int
}

// Do returns the value of a key, and whether this call created it. If there is no current value, it calls create with a
// context that is canceled when all callers have left, and that waits in the turns of all their clients. The value may
// be used until done is called. If Do returns an error, done is a no-op.
func (g *Group[K, V]) Do(
	ctx context.Context, key K, create func(context.Context) (V, error),
) (value V, first bool, done func(), err error) {
	g.mu.Lock()
	r, found := g.runs[key]
	if !found {
		r = &run[V]{ready: make(chan struct{})}
		var shared context.Context
		shared, r.join = fairqueue.Share(ctx)
		shared, r.cancel = context.WithCancel(shared) //nolint:gosec // leave calls it
		if g.runs == nil {
			g.runs = map[K]*run[V]{}
		}
		g.runs[key] = r
		go func() {
			defer close(r.ready)
			if r.value, r.err = create(shared); r.err != nil {
				g.mu.Lock()
				g.forget(key, r) // later callers try again
				g.mu.Unlock()
			}
		}()
	}
	r.holders++
	g.mu.Unlock()
	if found {
		r.join(ctx)
	}
	done = sync.OnceFunc(func() { g.leave(key, r) })
	select {
	case <-r.ready:
	case <-ctx.Done():
		done()
		return value, !found, done, ctx.Err()
	}
	if r.err != nil {
		done()
		return value, !found, done, r.err
	}
	return r.value, !found, done, nil
}

func (g *Group[K, V]) leave(key K, r *run[V]) {
	g.mu.Lock()
	r.holders--
	last := r.holders == 0
	if last {
		g.forget(key, r)
	}
	g.mu.Unlock()
	if !last {
		return
	}
	r.cancel()
	drop := func() {
		<-r.ready
		if r.err == nil && g.Drop != nil {
			g.Drop(r.value)
		}
	}
	select {
	case <-r.ready:
		drop()
	default:
		go drop() // a canceled run has not ended yet
	}
}

// forget makes the next caller start a new run. The caller holds the lock.
func (g *Group[K, V]) forget(key K, r *run[V]) {
	if g.runs[key] == r {
		delete(g.runs, key)
	}
}
