package serve

import (
	"runtime"

	"github.com/darkroom-operator/darkroom-operator/gate/admission"
)

// Budget divides the memory of the gate.
type Budget struct {
	// Originals bounds the originals in memory, in bytes.
	Originals int64
	// Shrink bounds the images that are being shrunk, in bytes.
	Shrink int64
	// Responses bounds the entries that are being sent, in bytes.
	Responses int64
	// MaxWaiting bounds the requests in each queue.
	MaxWaiting int
}

// NewBudget divides the memory limit of the gate. A quarter is for the cache, and another
// one is left for connections and the garbage collector.
func NewBudget(memory int64) Budget {
	return Budget{Originals: memory / 5, Shrink: memory / 5, Responses: memory / 10, MaxWaiting: 1024}
}

// Queues bound what is worked on. A request passes them in the order of the fields and
// never returns to an earlier one while it holds a place, so they cannot deadlock.
type Queues struct {
	// Fetches counts open requests of the source.
	Fetches *admission.Queue
	// Originals weighs originals in memory.
	Originals *admission.Queue
	// Shrink weighs images that are being shrunk.
	Shrink *admission.Queue
	// Transforms weighs the memory of Darkroom.
	Transforms *admission.Queue
	// Processors counts transformations.
	Processors *admission.Queue
}

const (
	maxFetches = 128
	// darkroomIdle is the memory of Darkroom without requests.
	darkroomIdle = 32 << 20
)

func newQueues(b Budget, darkroomMemory int64) Queues {
	return Queues{
		Fetches:    admission.New(maxFetches, b.MaxWaiting),
		Originals:  admission.New(b.Originals, b.MaxWaiting),
		Shrink:     admission.New(b.Shrink, b.MaxWaiting),
		Transforms: admission.New(transformBudget(darkroomMemory), b.MaxWaiting),
		Processors: admission.New(int64(2*runtime.NumCPU()), b.MaxWaiting),
	}
}

// transformBudget is 45 % of Darkroom's memory: its garbage collector lets the heap grow to
// about one and a half times what is in use before 70 % of the limit are reached.
func transformBudget(darkroomMemory int64) int64 {
	return (darkroomMemory - darkroomIdle) * 45 / 100
}

// heaviest is the weight of a transformation that may run alone.
func heaviest(darkroomMemory int64) int64 {
	return (darkroomMemory - darkroomIdle) * 70 / 100
}
