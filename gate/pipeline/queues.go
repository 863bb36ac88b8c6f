package pipeline

import (
	"runtime"

	"github.com/darkroom-operator/darkroom-operator/gate/fairqueue"
)

// queues bound the work in progress. Each resource has a queue that is fair between clients. A single fair queue in front
// would not suffice: the photos that one client has passed through it would delay other clients at the next resource.
//
// While a request holds a place, it waits only for queues of later fields, so there
// are no deadlocks.
type queues struct {
	// fetches counts open requests to the source. A client may have half of these requests. Otherwise a source that
	// redirects back to the gate could take all of them with one request.
	fetches *fairqueue.Queue
	// originals weighs originals in memory. A client may have all but a ninth, so that other clients do not have to
	// wait until its photos are done.
	originals *fairqueue.Queue
	// renders weighs images that are decoded, resized and encoded. The minimum weight limits their number to one for
	// each processor. With more, some would wait for a processor while their pixels occupy memory.
	renders         *fairqueue.Queue
	minRenderWeight int64
	// lightRenders admits as many images again, with a weight of lightRenderWeight each, which take a few milliseconds.
	// They do not wait for larger ones, which take seconds on a busy node: beside 60 photos of another client, small
	// images took up to 0.8 s instead of 3 s.
	lightRenders      *fairqueue.Queue
	lightRenderWeight int64
	// transforms weighs transformations by the memory that Darkroom needs. The minimum weight limits their number to
	// two for each processor, because more would share processor time and need memory of the gate for their results. A
	// transformation with the maximum weight runs alone.
	transforms                             *fairqueue.Queue
	minTransformWeight, maxTransformWeight int64
}

const (
	maxFetches    = 128
	maxTransforms = 16
	// maxWaiting limits the waiting requests of each queue.
	maxWaiting = 1024
	// darkroomIdle is the memory of an idle Darkroom.
	darkroomIdle = 32 << 20
)

// The memory limit of the gate is divided as follows. The rest is left for connections and bookkeeping.

// OriginalsMemory is the most memory that the originals of one client, or a single original, may take. All clients
// together may take an eighth more.
func (o *Options) OriginalsMemory() int64 { return o.Memory / 5 }

// RenderMemory is the memory for decoding, resizing and encoding. Light images have up to an eighth more.
func (o *Options) RenderMemory() int64 { return o.Memory / 5 }

// CacheMemory is the memory for the cache. Reads from disk need a quarter more.
func (o *Options) CacheMemory() int64 { return o.Memory / 4 }

// ResponseMemory is the memory for responses that are being sent.
func (o *Options) ResponseMemory() int64 { return o.Memory / 10 }

// PassedOnMemory limits results of Darkroom, and originals that are passed on instead of a result.
func (o *Options) PassedOnMemory() int64 { return o.Memory / 16 }

// newQueues returns the queues for the memory of the gate and of Darkroom.
func newQueues(o Options, metrics *Metrics) queues {
	usable := o.DarkroomMemory - darkroomIdle
	// The garbage collector of Darkroom lets the heap grow to one and a half times the memory in use, up to 70 % of
	// the limit.
	budget := usable * 45 / 100
	processors := int64(runtime.GOMAXPROCS(0))
	light := min(4<<20, o.RenderMemory()/16)
	return queues{
		fetches:            metrics.newQueue("fetch", maxFetches, maxFetches/2),
		originals:          metrics.newQueue("memory", o.OriginalsMemory()*9/8, o.OriginalsMemory()),
		renders:            metrics.newQueue("render", o.RenderMemory(), 0),
		minRenderWeight:    o.RenderMemory() / processors,
		lightRenders:       metrics.newQueue("light_render", min(processors*light, o.RenderMemory()/8), 0),
		lightRenderWeight:  light,
		transforms:         metrics.newQueue("transform", budget, 0),
		minTransformWeight: budget / int64(min(2*runtime.NumCPU(), maxTransforms)),
		maxTransformWeight: usable * 70 / 100,
	}
}
