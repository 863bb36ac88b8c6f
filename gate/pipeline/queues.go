package pipeline

import (
	"runtime"

	"github.com/darkroom-operator/darkroom-operator/gate/admission"
)

// queues bound what is worked on. A request passes them in the order of the fields and
// never returns to an earlier one while it holds a place, so they cannot deadlock.
type queues struct {
	// fetches counts open requests of the source, of which a client can have half: a source
	// that redirects back to the gate would otherwise take all places with one request.
	fetches *admission.Queue
	// originals weighs originals in memory.
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

// newQueues divides the memory limit of the gate: a fifth each for originals, and for rendering. A
// quarter is for the cache, a sixteenth for what it reads from disk, a tenth for responses, and
// the rest is left for results and connections.
func newQueues(o Options, metrics *Metrics) queues {
	usable := o.DarkroomMemory - darkroomIdle
	// Darkroom's garbage collector lets the heap grow to about one and a half times what is in
	// use before 70 % of the limit are reached.
	budget := usable * 45 / 100
	return queues{
		fetches:        metrics.newQueue("fetch", maxFetches, maxFetches/2),
		originals:      metrics.newQueue("memory", o.Memory/5, 0),
		renders:        metrics.newQueue("render", o.Memory/5, 0),
		lightestRender: o.Memory / 5 / int64(runtime.GOMAXPROCS(0)),
		transforms:     metrics.newQueue("transform", budget, 0),
		lightest:       budget / int64(min(2*runtime.NumCPU(), maxTransforms)),
		heaviest:       usable * 70 / 100,
	}
}
