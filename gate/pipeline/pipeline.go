// Package pipeline creates responses from the cache, or fetches, checks and transforms the original. Concurrent equal
// requests share one response (responses). Concurrent requests for the same original share the original and its
// decoded pixels (flights).
//
// Get looks up the response in the cache (freshness.go). If it is not fresh, the pipeline loads it (load.go): it
// fetches the original (fetch.go) and transforms it (produce.go), together with other results of the original
// (batch.go). queues.go limits the number of requests in each step, and their memory.
package pipeline

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/darkroom-operator/darkroom-operator/gate/cache"
	"github.com/darkroom-operator/darkroom-operator/gate/darkroom"
	"github.com/darkroom-operator/darkroom-operator/gate/fairqueue"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
	"github.com/darkroom-operator/darkroom-operator/gate/request"
	"github.com/darkroom-operator/darkroom-operator/gate/share"
	"github.com/darkroom-operator/darkroom-operator/gate/source"
	"github.com/darkroom-operator/darkroom-operator/gate/timing"
)

// State is the origin of a response; it is a label of metrics.
type State string

// States of the cache for a request.
const (
	Hit         State = "hit"
	Miss        State = "miss"
	Revalidated State = "revalidated" // the source was or is being revalidated
	Stale       State = "stale"       // served because the source fails
	None        State = "none"        // the cache is not used
)

// Options configure a Pipeline.
type Options struct {
	Source source.Source
	Rules  request.Rules
	// MaxSourcePixels and MaxSourceBytes limit originals. MaxSourcePixels also limits results.
	MaxSourcePixels, MaxSourceBytes int64
	// Revalidate is the age from which an image is revalidated at the source. Meanwhile the entry is served, up to an
	// additional age of StaleIfError.
	Revalidate, StaleIfError time.Duration
	// OnlyDarkroom leaves all transformations to Darkroom, even plain ones.
	OnlyDarkroom bool
	// Memory and DarkroomMemory are the memory limits of the gate and of Darkroom, in bytes.
	Memory, DarkroomMemory int64
	// Log receives a warning for each damaged image.
	Log *slog.Logger
}

// Pipeline creates responses. Its methods are safe for concurrent use.
type Pipeline struct {
	Options
	transformer *darkroom.Darkroom
	cache       *cache.Cache
	queues      queues
	metrics     *Metrics

	// responses shares equal requests. Without it, a popular image that expires would be read from disk or requested
	// from Darkroom by all clients at once.
	responses share.Group[string, response]
	// flights shares originals. Without it, each size of an image would be fetched and decoded separately.
	flights share.Group[source.Request, *flight]
	// refreshing contains the originals that are being revalidated in the background. Without it, each request for a
	// popular image would leave a goroutine behind while the source hangs, because the request itself does not wait.
	refreshing sync.Map
	// versions contains the last state of each original that the source confirmed, without validators. The zero value
	// is a missing original. An entry of the same version is equally fresh, so one request revalidates all results of
	// an original. Without it, a deleted image would still be served in other sizes.
	versions *otter.Cache[string, cache.Origin]
	// failures contains recent problems by the keys of requests and originals. They expire after seconds, and prevent
	// repeated requests to the source while it fails or lacks the image.
	failures *otter.Cache[string, *problem.Problem]
	// logged contains the paths of damaged images, so that each is logged once.
	logged *otter.Cache[string, struct{}]
}

type response struct {
	entry *cache.Entry
	state State
}

const (
	failureLifetime = 3 * time.Second
	// staleLifetime is the time without requests to a failing source while a known image is served.
	staleLifetime = 10 * time.Second
)

// New returns a pipeline that stores results in a cache and reports to metrics.
func New(options Options, transformer *darkroom.Darkroom, results *cache.Cache, metrics *Metrics) *Pipeline {
	// A larger original would not fit into the memory for originals.
	options.MaxSourceBytes = min(options.MaxSourceBytes, options.OriginalsMemory())
	failures := remembered[*problem.Problem](options.Memory)
	failures.ExpiryCalculator = otter.ExpiryWriting[string, *problem.Problem](failureLifetime)
	p := &Pipeline{
		Options: options, transformer: transformer, cache: results, metrics: metrics, queues: newQueues(options, metrics),
		versions: otter.Must(remembered[cache.Origin](options.Memory)), failures: otter.Must(failures),
		logged: otter.Must(remembered[struct{}](options.Memory / 16)),
	}
	p.flights.Drop = func(f *flight) { f.release(0) }
	metrics.observe(results)
	return p
}

// remembered returns options that bound the memory of small values with keys of any length.
func remembered[V any](memory int64) *otter.Options[string, V] {
	const each = 512
	return &otter.Options[string, V]{
		MaximumWeight: uint64(max(memory/64, 1)),
		//nolint:gosec // a path and a query string
		Weigher: func(key string, _ V) uint32 { return uint32(each + len(key)) },
	}
}

// Metrics returns the metrics that were passed to New.
func (p *Pipeline) Metrics() *Metrics { return p.metrics }

// Get returns the response to a request. All errors are problems, except errors of the context.
func (p *Pipeline) Get(ctx context.Context, client string, r request.Request) (*cache.Entry, State, error) {
	key := r.Key()
	if known := p.cache.Recent(key); known != nil {
		if assessed, freshness := p.assess(r, known); freshness == fresh {
			return assessed, Hit, nil
		}
	}
	shared, first, done, err := doShared(fairqueue.For(ctx, client), &p.responses, key,
		func(ctx context.Context) (response, error) { return p.respond(ctx, key, r) })
	done() // responses have nothing to release
	switch {
	case err != nil:
		return nil, Miss, err
	case !first && shared.state == Miss:
		shared.state = Hit // only the first request is a miss
	}
	return shared.entry, shared.state, nil
}

// doShared runs create once for concurrent callers with the same key. If the run of another client was refused a
// place in a queue, create runs again for this client.
func doShared[K comparable, V any](
	ctx context.Context, group *share.Group[K, V], key K, create func(context.Context) (V, error),
) (value V, first bool, done func(), err error) {
	start := time.Now()
	value, first, done, err = group.Do(ctx, key, create)
	defer func() {
		if !first {
			timing.Add(ctx, "shared", time.Since(start))
		}
	}()
	if !first && problem.Is(err, problem.Busy) {
		value, first, done, err = group.Do(ctx, key, create)
	}
	return value, first, done, err
}

// respond returns an entry of the cache, or creates one. It refreshes an outdated entry in the background.
func (p *Pipeline) respond(ctx context.Context, key string, r request.Request) (response, error) {
	known, freshness := p.lookUp(r) //nolint:contextcheck // reads of the disk do not take long
	if freshness == fresh {
		return response{known, Hit}, nil
	}
	if failure := p.recentFailure(r); failure != nil {
		if stale, err := p.staleOrFailure(key, known, failure); err == nil || failure.Kind != problem.Busy {
			return stale, err
		}
	}
	if freshness == outdated {
		if _, running := p.refreshing.LoadOrStore(r.Original(), nil); !running {
			go func() {
				defer p.refreshing.Delete(r.Original())
				_, _ = p.load(context.WithoutCancel(ctx), key, r, known) // failures are remembered
			}()
		}
		return response{known, Revalidated}, nil
	}
	return p.load(ctx, key, r, known)
}
