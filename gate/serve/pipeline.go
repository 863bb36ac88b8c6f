// Package serve puts the parts together: it answers requests from the cache, or fetches,
// checks and transforms the original.
package serve

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/darkroom-operator/darkroom-operator/gate/cache"
	"github.com/darkroom-operator/darkroom-operator/gate/flight"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
	"github.com/darkroom-operator/darkroom-operator/gate/request"
	"github.com/darkroom-operator/darkroom-operator/gate/source"
)

// Transformer applies a query string of Darkroom to an original.
type Transformer interface {
	Transform(ctx context.Context, original []byte, query string) ([]byte, error)
}

// State is how a response came about; it is a label of metrics.
type State string

// States of the cache for a request.
const (
	Hit         State = "hit"
	Miss        State = "miss"
	Revalidated State = "revalidated"
	Stale       State = "stale"
)

// Options configure a Pipeline.
type Options struct {
	Rules request.Rules
	// MaxSourcePixels and MaxSourceBytes bound originals.
	MaxSourcePixels, MaxSourceBytes int64
	// Revalidate is the age from which the source is asked whether an entry is still
	// valid. StaleIfError is the age up to which it may be served if the source fails.
	Revalidate, StaleIfError time.Duration
	// ShrinkFirst enables shrinking of large JPEG files.
	ShrinkFirst bool
	// DarkroomMemory is the memory limit of Darkroom, in bytes.
	DarkroomMemory int64
	Budget         Budget
}

// Pipeline makes responses. Its methods are safe for concurrent use.
type Pipeline struct {
	Options
	Source      source.Source
	Transformer Transformer
	Cache       *cache.Cache
	Queues      Queues
	Metrics     *Metrics

	flights flight.Group[result]
	// failures are kept for seconds, so that a missing image is not requested from the
	// source by each client.
	failures *otter.Cache[string, *problem.Problem]
	// held are the keys of stale entries for which the source has just failed.
	held *otter.Cache[string, struct{}]
}

type result struct {
	entry *cache.Entry
	state State
}

const (
	// failureLifetime is how long failures are remembered; transientLifetime applies to
	// those that may be over soon.
	failureLifetime   = 5 * time.Second
	transientLifetime = time.Second
	// staleHold is how long an entry is served without asking a source that failed.
	staleHold = 10 * time.Second
)

// NewPipeline completes a pipeline.
func NewPipeline(p *Pipeline) *Pipeline {
	p.Queues = newQueues(p.Budget, p.DarkroomMemory)
	p.failures = otter.Must(&otter.Options[string, *problem.Problem]{
		MaximumSize: 10_000,
		ExpiryCalculator: otter.ExpiryWritingFunc(func(e otter.Entry[string, *problem.Problem]) time.Duration {
			if e.Value.Status >= http.StatusInternalServerError {
				return transientLifetime
			}
			return failureLifetime
		}),
	})
	p.held = otter.Must(&otter.Options[string, struct{}]{
		MaximumSize: 100_000, ExpiryCalculator: otter.ExpiryWriting[string, struct{}](staleHold),
	})
	return p
}

// Get returns the response to a request. All errors are problems, except those of the
// context.
func (p *Pipeline) Get(ctx context.Context, client string, r request.Request) (*cache.Entry, State, error) {
	key := r.Key()
	known, _ := p.Cache.Get(key)
	if known != nil && time.Since(known.Validated) < p.Revalidate {
		return known, Hit, nil
	}
	if _, held := p.held.GetIfPresent(key); held && known != nil {
		return known, Stale, nil
	}
	if failure, ok := p.failures.GetIfPresent(key); ok {
		return nil, Miss, failure
	}
	made, shared, err := p.flights.Do(ctx, key, func(ctx context.Context) (result, error) {
		return p.refresh(ctx, client, key, r, known)
	})
	if shared && err == nil && made.state == Miss {
		made.state = Hit // one miss per request of the source
	}
	return made.entry, made.state, err
}

// refresh fetches or revalidates an entry.
func (p *Pipeline) refresh(ctx context.Context, client, key string, r request.Request, known *cache.Entry) (result, error) {
	entry, state, err := p.produce(ctx, client, key, r, known)
	if err == nil {
		return result{entry, state}, nil
	}
	if errors.Is(err, context.Canceled) {
		return result{state: Miss}, err
	}
	failure := problem.Of(err)
	switch {
	case failure.Status < http.StatusInternalServerError:
		p.Cache.Remove(key) // the image is gone, or has become one that is refused
	case known != nil && time.Since(known.Validated) < p.Revalidate+p.StaleIfError:
		p.held.Set(key, struct{}{})
		return result{known, Stale}, nil
	}
	if failure.Status != http.StatusServiceUnavailable {
		_, _ = p.failures.Set(key, failure)
	}
	return result{state: Miss}, err
}
