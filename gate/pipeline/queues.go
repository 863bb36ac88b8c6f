package pipeline

import (
	"runtime"

	"github.com/darkroom-operator/darkroom-operator/gate/admission"
)

// queues bound what is worked on. A request passes them in the order of the fields and
// never returns to an earlier one while it holds a place, so they cannot deadlock.
type queues struct {
	// fetches counts open requests of the source. A client can have half of them: a source
	// that redirects back to the gate would otherwise take all places with one request.
	fetches *admission.Queue
	// originals weighs originals in memory. A client can have all but a ninth: an image of another one does not wait until
	// photos of the first one are done.
	originals *admission.Queue
	// renders weighs images that are decoded, resized and encoded. The lightest weight bounds their number: more than
	// processors would only wait for one, with their pixels in memory.
	renders        *admission.Queue
	lightestRender int64
	// transforms weighs the memory of Darkroom. The lightest weight of a transformation bounds
	// their number: more than two for each processor only share its time, and their results need
	// memory of the gate. The heaviest may run alone.
	transforms         *admission.Queue
	lightest, heaviest int64
}

const (
	maxFetches    = 128
	maxTransforms = 16
	// maxWaiting bounds the requests in each queue.
	maxWaiting = 1024
	// darkroomIdle is the memory of Darkroom without requests.
	darkroomIdle = 32 << 20
)

// The memory limit of the gate is divided as follows. The rest is left for results and connections.

// OriginalsMemory is the memory for the originals of one client, or for one original. All clients have an eighth more.
func (o *Options) OriginalsMemory() int64 { return o.Memory / 5 }

// RenderMemory is the memory for decoding, resizing and encoding several results, or one.
func (o *Options) RenderMemory() int64 { return o.Memory / 5 }

// CacheMemory is the memory for the cache, which needs a quarter more to read from the disk.
func (o *Options) CacheMemory() int64 { return o.Memory / 4 }

// ResponseMemory is the memory for responses that are being sent.
func (o *Options) ResponseMemory() int64 { return o.Memory / 10 }

// PassedOnMemory bounds a result of Darkroom, and an original that is passed on instead of a result.
func (o *Options) PassedOnMemory() int64 { return o.Memory / 16 }

// newQueues returns the queues for the memory of the gate and of Darkroom.
func newQueues(o Options, metrics *Metrics) queues {
	usable := o.DarkroomMemory - darkroomIdle
	// Darkroom's garbage collector lets the heap grow to about one and a half times what is in
	// use before 70 % of the limit are reached.
	budget := usable * 45 / 100
	return queues{
		fetches:        metrics.newQueue("fetch", maxFetches, maxFetches/2),
		originals:      metrics.newQueue("memory", o.OriginalsMemory()*9/8, o.OriginalsMemory()),
		renders:        metrics.newQueue("render", o.RenderMemory(), 0),
		lightestRender: o.RenderMemory() / int64(runtime.GOMAXPROCS(0)),
		transforms:     metrics.newQueue("transform", budget, 0),
		lightest:       budget / int64(min(2*runtime.NumCPU(), maxTransforms)),
		heaviest:       usable * 70 / 100,
	}
}
