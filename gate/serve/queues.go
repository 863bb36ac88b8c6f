package serve

import (
	"context"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/darkroom-operator/darkroom-operator/gate/admission"
)

// queues bound what is worked on. A request passes them in the order of the fields and
// never returns to an earlier one while it holds a place, so they cannot deadlock.
type queues struct {
	// fetches counts open requests of the source.
	fetches queue
	// originals weighs originals in memory.
	originals queue
	// shrink weighs images that are being shrunk.
	shrink queue
	// transforms weighs the memory of Darkroom.
	transforms queue
	// results weighs what Darkroom returns.
	results queue
}

const (
	maxFetches = 128
	// maxWaiting bounds the requests in each queue.
	maxWaiting = 1024
	// darkroomIdle is the memory of Darkroom without requests.
	darkroomIdle = 32 << 20
)

// newQueues divides the memory limit of the gate: a fifth each for originals and shrinking, a
// sixteenth for results. A quarter is for the cache, a sixteenth for what it reads from disk, a
// tenth for responses, and an eighth is left for connections.
func newQueues(o Options, metrics *Metrics) queues {
	return queues{
		fetches:    metrics.newQueue("fetch", maxFetches),
		originals:  metrics.newQueue("memory", o.Memory/5),
		shrink:     metrics.newQueue("shrink", o.Memory/5),
		transforms: metrics.newQueue("transform", transformBudget(o.DarkroomMemory)),
		results:    metrics.newQueue("result", o.Memory/16),
	}
}

// transformBudget is 45 % of Darkroom's memory: its garbage collector lets the heap grow to
// about one and a half times what is in use before 70 % of the limit are reached.
func transformBudget(darkroomMemory int64) int64 {
	return (darkroomMemory - darkroomIdle) * 45 / 100
}

// lightest is the least weight of a transformation. It bounds their number, since more than two
// for each processor only share its time.
func lightest(darkroomMemory int64) int64 {
	return transformBudget(darkroomMemory) / int64(2*runtime.NumCPU())
}

// heaviest is the weight of a transformation that may run alone.
func heaviest(darkroomMemory int64) int64 {
	return (darkroomMemory - darkroomIdle) * 70 / 100
}

// queue measures the time of admissions.
type queue struct {
	*admission.Queue
	waits prometheus.Observer
}

func (q queue) acquire(ctx context.Context, client string, weight int64) (admission.Release, error) {
	defer func(start time.Time) { q.waits.Observe(time.Since(start).Seconds()) }(time.Now())
	return q.Acquire(ctx, client, weight)
}
