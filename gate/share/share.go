// Package share lets requests that need the same value at the same time share one run of creating it.
package share

import (
	"context"
	"sync"

	"github.com/darkroom-operator/darkroom-operator/gate/admission"
)

// Group creates values and keeps each one while requests hold it. The zero value is ready to use,
// and its methods are safe for concurrent use.
type Group[K comparable, V any] struct {
	// Drop is called once with each value that was created, when nobody holds it any more.
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
	// holders wait for the value or hold it.
	holders int
}

// Do returns the value of a key, and first for one that was created by this call. If nobody waits for the value
// or holds it, it is created, in a context that ends when all have left, and in which it waits in the turns of
// their clients. The value may be used until done is called; after an error that has no effect.
func (g *Group[K, V]) Do(
	ctx context.Context, key K, create func(context.Context) (V, error),
) (value V, first bool, done func(), err error) {
	g.mu.Lock()
	r, found := g.runs[key]
	if !found {
		r = &run[V]{ready: make(chan struct{})}
		var shared context.Context
		shared, r.join = admission.Share(ctx)
		shared, r.cancel = context.WithCancel(shared) //nolint:gosec // leave calls it
		if g.runs == nil {
			g.runs = map[K]*run[V]{}
		}
		g.runs[key] = r
		go func() {
			defer close(r.ready)
			if r.value, r.err = create(shared); r.err != nil {
				g.mu.Lock()
				g.forget(key, r) // who asks from now on tries again
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
		go drop() // what was canceled still ends
	}
}

// forget lets the next request for a key begin a run of its own. The caller holds the lock.
func (g *Group[K, V]) forget(key K, r *run[V]) {
	if g.runs[key] == r {
		delete(g.runs, key)
	}
}
