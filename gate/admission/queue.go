// Package admission bounds what is worked on at the same time. Requests beyond the capacity
// wait in a queue that is fair between clients: a client with a thousand requests delays
// another's first one by at most one turn, also if that waits for work that the former has asked for.
package admission

import (
	"context"
	"math"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/darkroom-operator/darkroom-operator/gate/problem"
)

// Queue admits work by weight. Its methods are safe for concurrent use.
type Queue struct {
	// Waited is called with the time that work has waited; nil does nothing.
	Waited func(context.Context, time.Duration)

	capacity   int64
	maxWaiting int
	forClient  int64

	mu   sync.Mutex
	used int64
	// turn is that of the last waiter that was admitted.
	turn int
	// waiters are in the order in which they came, and joined in that in which clients joined them.
	waiters []*waiter
	joined  []joining
	// clients are those that wait or have work; nobody has the work that all its clients have left.
	clients map[string]*client
	nobody  client
}

type client struct {
	name string
	// admitted is the weight of its work, and waits the number of works that it waits for.
	admitted int64
	waits    int
	// turn is that of its last work, or that of the queue when it began to wait.
	turn int
	// next is the turn of its next waiter, while waiters are given their turns.
	next int
}

// joining is that a client waits for a waiter.
type joining struct {
	client *client
	waiter *waiter
}

type waiter struct {
	weight int64
	// client is the one whose turn the waiter has.
	client *client
	turn   int
	// gone is set when it does not wait any more.
	gone bool
	// admitted receives true once, or false if the place went to another client.
	admitted chan bool
}

// New returns a queue that admits work up to a total weight, of one client up to forClient unless
// it is zero, and lets at most maxWaiting requests wait for it.
func New(capacity int64, maxWaiting int, forClient int64) *Queue {
	capacity = max(1, capacity)
	if forClient == 0 {
		forClient = capacity
	}
	return &Queue{capacity: capacity, maxWaiting: maxWaiting, forClient: forClient, clients: map[string]*client{}}
}

// errFull has the status 503.
func errFull() *problem.Problem {
	return problem.New(http.StatusServiceUnavailable, "too many requests are waiting; retry later").Retry(2 * time.Second)
}

// maxWait is the time after which clients and proxies do not wait for a response any more.
const maxWait = 45 * time.Second

// Release gives back the admitted weight but for a part, which is zero when the work is done.
type Release func(keep int64)

// Acquire waits until work of this weight is admitted, in the earliest turn of the clients of the context. Work heavier
// than the capacity is admitted alone. The error is a problem if the queue is full, or that of the context.
func (q *Queue) Acquire(ctx context.Context, weight int64) (Release, error) {
	if q.Waited != nil {
		defer func(ctx context.Context, start time.Time) { q.Waited(ctx, time.Since(start)) }(ctx, time.Now())
	}
	w := &waiter{weight: min(max(weight, 1), q.forClient), admitted: make(chan bool, 1)}
	defer of(ctx).follow(func(name string, n int) { q.join(w, name, n) })()
	ctx, cancel := context.WithTimeoutCause(ctx, maxWait, errFull())
	defer cancel()
	q.enter(w)
	select {
	case admitted := <-w.admitted:
		if !admitted {
			return nil, errFull()
		}
		return func(keep int64) { q.release(w, keep) }, nil
	case <-ctx.Done():
		// It may have been admitted at the same moment.
		if !q.leave(w) && <-w.admitted {
			q.release(w, 0)
		}
		return nil, context.Cause(ctx)
	}
}

// join adds a client to those of a waiter, or removes it if n is negative.
func (q *Queue) join(w *waiter, name string, n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if w.gone {
		return
	}
	if n < 0 {
		q.part(func(j joining) bool { return j.waiter == w && j.client.name == name })
	} else {
		c := q.clients[name]
		if c == nil {
			c = &client{name: name}
			q.clients[name] = c
		}
		if c.waits == 0 {
			c.turn = q.turn
		}
		c.waits++
		q.joined = append(q.joined, joining{c, w})
	}
	if slices.Contains(q.waiters, w) {
		q.admit()
	}
}

// part removes clients from waiters.
func (q *Queue) part(gone func(joining) bool) {
	q.joined = slices.DeleteFunc(q.joined, func(j joining) bool {
		if !gone(j) {
			return false
		}
		j.client.waits--
		q.forget(j.client)
		return true
	})
}

// enter lets a waiter wait, and refuses that of the last turn if there are too many.
func (q *Queue) enter(w *waiter) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiters = append(q.waiters, w)
	if q.admit(); len(q.waiters) > q.maxWaiting {
		_, last := q.order()
		last.admitted <- false
		q.remove(last)
	}
}

// leave removes a waiter and reports whether it still was in the queue.
func (q *Queue) leave(w *waiter) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	waited := q.remove(w)
	q.admit() // the next one may be lighter
	return waited
}

// remove removes a waiter and reports whether it was in the queue.
func (q *Queue) remove(w *waiter) bool {
	at := slices.Index(q.waiters, w)
	if at >= 0 {
		q.waiters = slices.Delete(q.waiters, at, at+1)
	}
	w.gone = true
	q.part(func(j joining) bool { return j.waiter == w })
	return at >= 0
}

// release gives back the weight of admitted work but for a part.
func (q *Queue) release(w *waiter, keep int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	given := max(w.weight-keep, 0)
	w.weight -= given
	q.used -= given
	w.client.admitted -= given
	q.forget(w.client)
	q.admit()
}

// forget drops a client that neither waits nor has work.
func (q *Queue) forget(c *client) {
	if c.waits == 0 && c.admitted == 0 && c != &q.nobody {
		delete(q.clients, c.name)
	}
}

// allows reports whether a client may have more work of a weight.
func (q *Queue) allows(c *client, weight int64) bool { return c.admitted+weight <= q.forClient }

// order gives the waiters their turns: each client, in the order in which it joined them, spends its next one on
// those that have no earlier turn of a client that may have more work. It returns the waiter to admit next and that
// of the last turn, or nil.
func (q *Queue) order() (first, last *waiter) {
	for _, w := range q.waiters {
		w.client, w.turn = &q.nobody, math.MaxInt
	}
	for _, j := range q.joined { // some are about to wait
		j.waiter.client, j.waiter.turn = &q.nobody, math.MaxInt
		j.client.next = max(j.client.turn+1, q.turn) // who may not have more work meanwhile saves no turns
	}
	for _, j := range q.joined {
		w, c := j.waiter, j.client
		may, other := q.allows(c, w.weight), w.client != &q.nobody && q.allows(w.client, w.weight)
		if may && !other || may == other && c.next < w.turn {
			w.client, w.turn = c, c.next
			c.next++
		}
	}
	for _, w := range q.waiters {
		if q.allows(w.client, w.weight) && (first == nil || w.turn < first.turn) {
			first = w
		}
		if last == nil || w.turn >= last.turn {
			last = w
		}
	}
	return first, last
}

// admit lets waiters in. A heavy request is not overtaken, so that it cannot wait forever.
func (q *Queue) admit() {
	for q.used < q.capacity {
		w, _ := q.order()
		if w == nil || q.used+w.weight > q.capacity {
			return
		}
		q.used += w.weight
		w.client.admitted += w.weight
		if w.client != &q.nobody {
			q.turn, w.client.turn = max(q.turn, w.turn), w.turn
		}
		q.remove(w)
		w.admitted <- true
	}
}

// Load returns the admitted weight and the number of waiting requests.
func (q *Queue) Load() (used int64, waiting int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.used, len(q.waiters)
}
