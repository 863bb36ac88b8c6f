// Package admission bounds what is worked on at the same time. Requests beyond the capacity
// wait in a queue that is fair between clients: a client with a thousand requests delays
// another's first one by at most one turn.
package admission

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/darkroom-operator/darkroom-operator/gate/problem"
)

// Queue admits work by weight. Its methods are safe for concurrent use.
type Queue struct {
	capacity   int64
	maxWaiting int

	mu      sync.Mutex
	used    int64
	waiting int
	// clients wait in turns; each has at least one waiter in byClient.
	clients  []string
	byClient map[string][]*waiter
}

type waiter struct {
	weight int64
	// admitted receives true once, or false if the place went to another client.
	admitted chan bool
}

// New returns a queue that admits work up to a total weight, and lets at most maxWaiting
// requests wait for it.
func New(capacity int64, maxWaiting int) *Queue {
	return &Queue{capacity: max(1, capacity), maxWaiting: maxWaiting, byClient: map[string][]*waiter{}}
}

// errFull has the status 503.
func errFull() *problem.Problem {
	return problem.New(http.StatusServiceUnavailable, "too many requests are waiting; retry later").Retry(2 * time.Second)
}

// Acquire waits until work of this weight is admitted, and returns a function that must be
// called when it is done. Work heavier than the capacity is admitted alone. The error is a
// problem if the queue is full, or that of the context.
func (q *Queue) Acquire(ctx context.Context, client string, weight int64) (release func(), err error) {
	weight = min(max(weight, 0), q.capacity)
	q.mu.Lock()
	if q.waiting == 0 && q.used+weight <= q.capacity {
		q.used += weight
		q.mu.Unlock()
		return q.releaser(weight), nil
	}
	w, err := q.enqueue(client, weight)
	q.mu.Unlock()
	if err != nil {
		return nil, err
	}
	select {
	case admitted := <-w.admitted:
		if !admitted {
			return nil, errFull()
		}
		return q.releaser(weight), nil
	case <-ctx.Done():
		if q.leave(client, w) {
			return nil, ctx.Err()
		}
		// It was admitted, or displaced, at the same moment.
		if <-w.admitted {
			q.release(weight)
		}
		return nil, ctx.Err()
	}
}

// enqueue adds a waiter. If the queue is full, it takes the last place of the client with
// the most waiters, provided that this client has more of them.
func (q *Queue) enqueue(client string, weight int64) (*waiter, error) {
	if q.waiting >= q.maxWaiting {
		longest := client
		for name, waiters := range q.byClient {
			if len(waiters) > len(q.byClient[longest])+1 {
				longest = name
			}
		}
		if longest == client {
			return nil, errFull()
		}
		waiters := q.byClient[longest]
		last := waiters[len(waiters)-1]
		q.byClient[longest] = waiters[:len(waiters)-1]
		q.waiting--
		last.admitted <- false
	}
	w := &waiter{weight: weight, admitted: make(chan bool, 1)}
	if len(q.byClient[client]) == 0 {
		q.clients = append(q.clients, client)
	}
	q.byClient[client] = append(q.byClient[client], w)
	q.waiting++
	return w, nil
}

// leave removes a waiter and reports whether it still was in the queue.
func (q *Queue) leave(client string, w *waiter) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiters := q.byClient[client]
	for i, other := range waiters {
		if other != w {
			continue
		}
		q.byClient[client] = append(waiters[:i:i], waiters[i+1:]...)
		q.waiting--
		if len(q.byClient[client]) == 0 {
			q.forget(client)
		}
		// The next one may be lighter.
		q.admit()
		return true
	}
	return false
}

func (q *Queue) forget(client string) {
	delete(q.byClient, client)
	for i, name := range q.clients {
		if name == client {
			q.clients = append(q.clients[:i:i], q.clients[i+1:]...)
			return
		}
	}
}

func (q *Queue) releaser(weight int64) func() {
	var once sync.Once
	return func() { once.Do(func() { q.release(weight) }) }
}

func (q *Queue) release(weight int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.used -= weight
	q.admit()
}

// admit lets waiters in, one client after the other. A heavy request is not overtaken, so
// that it cannot wait forever.
func (q *Queue) admit() {
	for len(q.clients) > 0 {
		client := q.clients[0]
		waiters := q.byClient[client]
		next := waiters[0]
		if q.used+next.weight > q.capacity {
			return
		}
		q.used += next.weight
		q.waiting--
		q.clients = q.clients[1:]
		if len(waiters) > 1 {
			q.byClient[client] = waiters[1:]
			q.clients = append(q.clients, client)
		} else {
			delete(q.byClient, client)
		}
		next.admitted <- true
	}
}

// Load returns the admitted weight and the number of waiting requests.
func (q *Queue) Load() (used int64, waiting int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.used, q.waiting
}
