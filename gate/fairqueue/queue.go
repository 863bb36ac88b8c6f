// Package fairqueue bounds the work in progress. Requests beyond the capacity wait in a queue that is fair between
// clients: a client with a thousand requests delays the first request of another client by at most one turn, even if
// that request waits for work that the busy client started.
//
// The queues of the gate, with their places and memory, are in gate/pipeline/queues.go.
package fairqueue

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/darkroom-operator/darkroom-operator/gate/problem"
)

// Queue admits work by weight. Its methods are safe for concurrent use.
type Queue struct {
	// Waited is called with the waiting time of each request, if set.
	Waited func(context.Context, time.Duration)

	capacity   int64
	maxWaiting int
	forClient  int64

	mu   sync.Mutex
	used int64
	// admitted is the weight of the admitted work of each client.
	admitted map[string]int64
	// turn is the current round of the queue, which is the round in which the last waiter was admitted.
	turn int
	// waiters are sorted by turn, and within a turn by the weight of the admitted work of their clients. A client has
	// at most one waiter in a turn.
	waiters []*waiter
}

type waiter struct {
	client string
	weight int64
	turn   int
	// admitted receives true when the work is admitted, or false when it is refused.
	admitted chan bool
}

// New returns a queue that admits work up to a total weight of capacity, and up to forClient for each client (0: no
// limit for a client). At most maxWaiting requests wait.
func New(capacity int64, maxWaiting int, forClient int64) *Queue {
	capacity = max(1, capacity)
	if forClient == 0 {
		forClient = capacity
	}
	return &Queue{capacity: capacity, maxWaiting: maxWaiting, forClient: forClient, admitted: map[string]int64{}}
}

func errFull() *problem.Problem {
	return problem.New(problem.Busy, "too many requests are waiting; retry later").Retry(2 * time.Second)
}

// maxWait is how long a request waits. Most clients and proxies time out later.
const maxWait = 45 * time.Second

// Release gives back the admitted weight except for the given part, which is zero when the work is done.
type Release func(keep int64)

// Acquire waits until work of a weight is admitted, in the earliest turn of the clients of the context. Work heavier
// than the capacity is admitted alone. If the queue is full the error is a problem, otherwise the error of the
// context.
func (q *Queue) Acquire(ctx context.Context, weight int64) (Release, error) {
	if q.Waited != nil {
		defer func(ctx context.Context, start time.Time) { q.Waited(ctx, time.Since(start)) }(ctx, time.Now())
	}
	clients := of(ctx)
	ctx, cancel := context.WithTimeoutCause(ctx, maxWait, errFull())
	defer cancel()
	w := &waiter{weight: min(max(weight, 1), q.forClient), admitted: make(chan bool, 1)}
	clients.follow(func(client string) { q.join(w, client) })
	q.refuse()
	select {
	case admitted := <-w.admitted:
		if !admitted {
			return nil, errFull()
		}
		return func(keep int64) { q.release(w, keep) }, nil
	case <-ctx.Done():
		// The work may have been admitted at the same moment.
		if !q.leave(w) && <-w.admitted {
			q.release(w, 0)
		}
		return nil, context.Cause(ctx)
	}
}

// join gives a waiter the client's next turn, if the waiter has no turn yet or a later one. The waiter may be admitted
// at once.
func (q *Queue) join(w *waiter, client string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	turn := q.turn + 1
	for _, other := range q.waiters {
		if other.client == client {
			turn = other.turn + 1
		}
	}
	if w.turn > 0 {
		at := slices.Index(q.waiters, w)
		earlier := turn < w.turn || turn == w.turn && !q.allows(w.client, w.weight)
		if at < 0 || !earlier || !q.allows(client, w.weight) {
			return
		}
		q.waiters = slices.Delete(q.waiters, at, at+1)
	}
	w.client, w.turn = client, turn
	at := 0
	for _, other := range q.waiters {
		if other.turn < turn || other.turn == turn && q.admitted[other.client] <= q.admitted[client] {
			at++
		}
	}
	q.waiters = slices.Insert(q.waiters, at, w)
	q.admit()
}

// refuse removes waiters from the end of a queue that is too long.
func (q *Queue) refuse() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for last := len(q.waiters) - 1; last >= q.maxWaiting; last-- {
		q.waiters[last].admitted <- false
		q.waiters = q.waiters[:last]
	}
}

// leave removes a waiter and reports whether it was still in the queue.
func (q *Queue) leave(w *waiter) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	at := slices.Index(q.waiters, w)
	if at < 0 {
		return false
	}
	q.waiters = slices.Delete(q.waiters, at, at+1)
	q.admit() // the next waiter may be lighter
	return true
}

// release gives back the weight of admitted work except for the given part.
func (q *Queue) release(w *waiter, keep int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	given := max(w.weight-keep, 0)
	w.weight -= given
	q.used -= given
	if q.admitted[w.client] -= given; q.admitted[w.client] <= 0 {
		delete(q.admitted, w.client)
	}
	q.admit()
}

// allows reports whether a client may have more work of a weight.
func (q *Queue) allows(client string, weight int64) bool {
	return q.admitted[client]+weight <= q.forClient
}

// next returns the index of the first waiter whose client is below its limit, or -1.
func (q *Queue) next() int {
	return slices.IndexFunc(q.waiters, func(w *waiter) bool { return q.allows(w.client, w.weight) })
}

// admit admits waiters in their order. A heavy waiter is not overtaken by lighter ones, so it cannot starve.
func (q *Queue) admit() {
	for at := q.next(); at >= 0 && q.used+q.waiters[at].weight <= q.capacity; at = q.next() {
		next := q.waiters[at]
		q.waiters = slices.Delete(q.waiters, at, at+1)
		q.used, q.turn = q.used+next.weight, max(q.turn, next.turn)
		q.admitted[next.client] += next.weight
		next.admitted <- true
	}
}

// Load returns the admitted weight and the number of waiting requests.
func (q *Queue) Load() (used int64, waiting int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.used, len(q.waiters)
}
