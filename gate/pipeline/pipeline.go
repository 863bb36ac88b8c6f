// Package pipeline makes responses: from the cache, or by fetching, checking and transforming the original. Requests at
// the same time share the response to equal ones (responses), and an original with its pixels (flights).
package pipeline

import (
	"context"
	"sync"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/darkroom-operator/darkroom-operator/gate/admission"
	"github.com/darkroom-operator/darkroom-operator/gate/cache"
	"github.com/darkroom-operator/darkroom-operator/gate/darkroom"
	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
	"github.com/darkroom-operator/darkroom-operator/gate/request"
	"github.com/darkroom-operator/darkroom-operator/gate/share"
	"github.com/darkroom-operator/darkroom-operator/gate/source"
	"github.com/darkroom-operator/darkroom-operator/gate/timing"
)

// State is how a response came about; it is a label of metrics.
type State string

// States of the cache for a request.
const (
	Hit         State = "hit"
	Miss        State = "miss"
	Revalidated State = "revalidated" // the source is asked whether it is valid, usually behind the response
	Stale       State = "stale"       // the source fails
	None        State = "none"        // the cache is not asked
)

// Options configure a Pipeline.
type Options struct {
	Source source.Source
	Rules  request.Rules
	// MaxSourcePixels and MaxSourceBytes bound originals.
	MaxSourcePixels, MaxSourceBytes int64
	// Revalidate is the age from which the source is asked whether an entry is still valid,
	// which is served meanwhile. StaleIfError is the additional age up to which it is served.
	Revalidate, StaleIfError time.Duration
	// OnlyDarkroom leaves all transformations to Darkroom, also those that the gate can do itself.
	OnlyDarkroom bool
	// Memory is the memory limit of the gate, and DarkroomMemory the limit of Darkroom, in bytes.
	Memory, DarkroomMemory int64
}

// Pipeline makes responses. Its methods are safe for concurrent use.
type Pipeline struct {
	Options
	transformer *darkroom.Darkroom
	cache       *cache.Cache
	queues      queues
	metrics     *Metrics

	responses share.Group[string, response]
	flights   share.Group[source.Request, *flight]
	// wishes has the requests that wait for originals.
	wishes sync.Map
	// refreshing has the originals that are checked behind responses.
	refreshing sync.Map
	// versions are those that the source has confirmed, by original, without their validators; the zero value is that it
	// has none. An entry of the same version is as fresh. Without it each result of an original is revalidated by itself.
	versions *otter.Cache[string, cache.Origin]
	// failures are kept for seconds, so that a source that fails, or has no image, is not asked
	// by each client. They are kept by the keys of requests and of originals.
	failures *otter.Cache[string, *problem.Problem]
}

type response struct {
	entry *cache.Entry
	state State
}

const (
	failureLifetime = 3 * time.Second
	// staleLifetime is the time for which a source that fails is not asked for a known image.
	staleLifetime = 10 * time.Second
	// minLifetime is the age below which the source is not asked again, whatever it says.
	minLifetime = time.Second
)

// New returns a pipeline that keeps results in a cache, and counts in metrics.
func New(options Options, transformer *darkroom.Darkroom, results *cache.Cache, metrics *Metrics) *Pipeline {
	// A larger one would not fit into the memory for originals.
	options.MaxSourceBytes = min(options.MaxSourceBytes, options.OriginalsMemory())
	failures := remembered[*problem.Problem](options.Memory)
	failures.ExpiryCalculator = otter.ExpiryWriting[string, *problem.Problem](failureLifetime)
	p := &Pipeline{
		Options: options, transformer: transformer, cache: results, metrics: metrics, queues: newQueues(options, metrics),
		versions: otter.Must(remembered[cache.Origin](options.Memory)), failures: otter.Must(failures),
	}
	p.flights.Drop = func(f *flight) { f.release(0) }
	metrics.observe(results)
	return p
}

// remembered returns what bounds the memory of small values, whose keys have any length.
func remembered[V any](memory int64) *otter.Options[string, V] {
	const each = 512
	return &otter.Options[string, V]{
		MaximumWeight: uint64(max(memory/64, 1)),
		//nolint:gosec // a path and a query string
		Weigher: func(key string, _ V) uint32 { return uint32(each + len(key)) },
	}
}

// Metrics returns the metrics of New.
func (p *Pipeline) Metrics() *Metrics { return p.metrics }

// Get returns the response to a request. All errors are problems, except the errors of the
// context.
func (p *Pipeline) Get(ctx context.Context, client string, r request.Request) (*cache.Entry, State, error) {
	key := r.Key()
	if known := p.cache.Recent(key); known != nil {
		if assessed, freshness := p.assess(r, known); freshness == fresh {
			return assessed, Hit, nil
		}
	}
	shared, first, done, err := doShared(admission.For(ctx, client), &p.responses, key,
		func(ctx context.Context) (response, error) { return p.respond(ctx, key, r) })
	done()
	switch {
	case err != nil:
		return nil, Miss, err
	case !first && shared.state == Miss:
		shared.state = Hit // one miss per request of the source
	}
	return shared.entry, shared.state, nil
}

// doShared shares what others make at the same time. A place in a queue belongs to the client that began: if it was
// lost, this one tries again.
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

// respond returns an entry of the cache, with a refresh behind it if it is old, or makes one.
func (p *Pipeline) respond(ctx context.Context, key string, r request.Request) (response, error) {
	known, freshness := p.lookUp(r) //nolint:contextcheck // reads of the disk do not take long
	if freshness == fresh {
		return response{known, Hit}, nil
	}
	if failure := p.failed(r); failure != nil {
		if stale, err := p.fail(key, known, failure); err == nil || failure.Kind != problem.Busy {
			return stale, err
		}
	}
	if freshness == outdated {
		if _, running := p.refreshing.LoadOrStore(r.Original(), nil); !running {
			go func() {
				defer p.refreshing.Delete(r.Original())
				_, _ = p.load(context.WithoutCancel(ctx), key, r, known) // what fails is remembered
			}()
		}
		return response{known, Revalidated}, nil
	}
	return p.load(ctx, key, r, known)
}

// freshness is how an entry of the cache may be used.
type freshness int

const (
	// unusable entries are too old, must not be kept any longer, or are of an original that the source has replaced.
	unusable freshness = iota
	// outdated entries are served while the source is asked.
	outdated
	fresh
)

// lookUp returns an entry of the cache and its freshness, or nil.
func (p *Pipeline) lookUp(r request.Request) (*cache.Entry, freshness) {
	if found := p.cache.Get(r.Key()); found != nil {
		return p.assess(r, found)
	}
	return nil, unusable
}

// assess returns an entry with what the source has said last, for this result of the original or another one, and its
// freshness. An entry of an original that the source no longer has is removed, and nil.
// What this process has not confirmed, such as a file of an earlier one, is not fresh.
func (p *Pipeline) assess(r request.Request, known *cache.Entry) (*cache.Entry, freshness) {
	now, found := p.versions.GetIfPresent(r.Original())
	switch {
	case !found || now.Validated.Before(known.Validated):
	case now.Original == "":
		p.cache.Remove(r.Key())
		return nil, unusable
	case now.Original != known.Original:
		replaced := *known
		replaced.Source = original.Validators{} // a time of modification may be the same for the next original
		return &replaced, unusable
	case now.Control != known.Control || !now.Validated.Equal(known.Validated):
		confirmed := *known
		confirmed.Validated, confirmed.Control = now.Validated, now.Control
		known = &confirmed
	}
	switch {
	case !p.servable(known):
		return known, unusable
	case found && p.age(known) < p.lifetime(known):
		return known, fresh
	}
	return known, outdated
}

// servable reports whether an entry may be served while the source is asked, or fails.
func (p *Pipeline) servable(known *cache.Entry) bool {
	return !known.Control.NoStore && p.age(known) < p.lifetime(known)+p.StaleIfError
}

// age returns the time since the source has confirmed the original of an entry. A time in the
// future, of a clock that was ahead, counts as old.
func (p *Pipeline) age(known *cache.Entry) time.Duration {
	if age := time.Since(known.Validated); age >= 0 {
		return age
	}
	return p.lifetime(known)
}

// lifetime returns the age from which the source is asked.
func (p *Pipeline) lifetime(known *cache.Entry) time.Duration {
	if known.Control.Bounded {
		return min(p.Revalidate, max(known.Control.MaxAge, minLifetime))
	}
	return p.Revalidate
}
