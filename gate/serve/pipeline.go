// Package serve puts the parts together: it answers requests from the cache, or fetches,
// checks and transforms the original.
package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/maypok86/otter/v2"
	"resenje.org/singleflight"

	"github.com/darkroom-operator/darkroom-operator/gate/cache"
	"github.com/darkroom-operator/darkroom-operator/gate/darkroom"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
	"github.com/darkroom-operator/darkroom-operator/gate/request"
	"github.com/darkroom-operator/darkroom-operator/gate/source"
)

// State is how a response came about; it is a label of metrics.
type State string

// States of the cache for a request.
const (
	Hit         State = "hit"
	Miss        State = "miss"
	Revalidated State = "revalidated"
	Stale       State = "stale"
	None        State = "none" // the cache is not asked
)

// Options configure a Pipeline.
type Options struct {
	Source source.Source
	Rules  request.Rules
	// MaxSourcePixels and MaxSourceBytes bound originals.
	MaxSourcePixels, MaxSourceBytes int64
	// Revalidate is the age from which the source is asked whether an entry is still
	// valid. StaleIfError is the age up to which it may be served if the source fails.
	Revalidate, StaleIfError time.Duration
	// ShrinkFirst enables shrinking of large JPEG files.
	ShrinkFirst bool
	// Memory is the memory limit of the gate, DarkroomMemory that of Darkroom, in bytes.
	Memory, DarkroomMemory int64
}

// Pipeline makes responses. Its methods are safe for concurrent use.
type Pipeline struct {
	Options
	transformer *darkroom.Darkroom
	cache       *cache.Cache
	queues      queues
	metrics     *Metrics

	// flights run one refresh for all requests of a key. It is canceled when all have left.
	flights singleflight.Group[string, result]
	// failures are kept for seconds, so that a source that fails, or has no image, is not
	// asked by each client.
	failures *otter.Cache[string, *problem.Problem]
}

type result struct {
	entry *cache.Entry
	state State
}

// A source has staleWait to respond if there is a stale entry, which is then served for staleHold.
const failureLifetime, staleWait, staleHold = 3 * time.Second, 2 * time.Second, 10 * time.Second

// New returns a pipeline.
func New(options Options, transformer *darkroom.Darkroom, results *cache.Cache, metrics *Metrics) *Pipeline {
	p := &Pipeline{
		Options: options, transformer: transformer, cache: results, metrics: metrics, queues: newQueues(options, metrics),
		failures: otter.Must(&otter.Options[string, *problem.Problem]{
			MaximumSize: 10_000, ExpiryCalculator: otter.ExpiryWriting[string, *problem.Problem](failureLifetime),
		}),
	}
	metrics.observe(results)
	return p
}

// Get returns the response to a request. All errors are problems, except those of the
// context.
func (p *Pipeline) Get(ctx context.Context, client string, r request.Request) (*cache.Entry, State, error) {
	key := r.Key()
	known := p.cache.Get(key) //nolint:contextcheck // reads of the disk do not take long
	if known != nil && time.Since(known.Validated) < p.Revalidate {
		return known, Hit, nil
	}
	if failure, ok := p.failures.GetIfPresent(key); ok {
		if p.stale(known) {
			return known, Stale, nil
		}
		return nil, Miss, failure
	}
	first := false
	made, _, err := p.flights.Do(ctx, key, func(ctx context.Context) (result, error) {
		first = true
		return p.refresh(ctx, client, key, r, known)
	})
	if err == nil && !first && made.state == Miss {
		made.state = Hit // one miss per request of the source
	}
	return made.entry, made.state, err
}

// refresh fetches or revalidates an entry.
func (p *Pipeline) refresh(ctx context.Context, client, key string, r request.Request, known *cache.Entry) (made result, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	made, err = p.produce(ctx, client, key, r, known)
	if err == nil || errors.Is(err, context.Canceled) {
		return made, err
	}
	failure := problem.Of(err)
	stale := failure.Status >= http.StatusInternalServerError && p.stale(known)
	if stale || failure.Status != http.StatusServiceUnavailable {
		_, _ = p.failures.Set(key, failure)
	}
	if stale {
		p.failures.SetExpiresAfter(key, staleHold)
		return result{known, Stale}, nil
	}
	if failure.Status < http.StatusInternalServerError {
		p.cache.Remove(key) // the image is gone, or has become one that is refused
	}
	return made, err
}

// stale reports whether an entry may be served while the source fails.
func (p *Pipeline) stale(known *cache.Entry) bool {
	return known != nil && time.Since(known.Validated) < p.Revalidate+p.StaleIfError
}
