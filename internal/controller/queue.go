package controller

import (
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// coalescePeriod is the time between the first event that concerns a Darkroom and its
// reconcile by the status controller. The objects of one apply reach the caches within
// milliseconds, and one reconcile handles them all.
const coalescePeriod = 10 * time.Millisecond

// coalescing is a queue whose requests become due after coalescePeriod.
type coalescing struct {
	priorityqueue.PriorityQueue[reconcile.Request]
}

func newCoalescing(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	return coalescing{priorityqueue.New(name, func(o *priorityqueue.Opts[reconcile.Request]) { o.RateLimiter = limiter })}
}

// Add implements workqueue.TypedInterface.
func (q coalescing) Add(request reconcile.Request) {
	q.AddWithOpts(priorityqueue.AddOpts{}, request)
}

// AddWithOpts implements priorityqueue.PriorityQueue.
func (q coalescing) AddWithOpts(options priorityqueue.AddOpts, requests ...reconcile.Request) {
	if options.After == 0 && !options.RateLimited {
		options.After = coalescePeriod
	}
	q.PriorityQueue.AddWithOpts(options, requests...)
}
