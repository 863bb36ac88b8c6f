package pipeline

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/darkroom-operator/darkroom-operator/gate/cache"
	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
	"github.com/darkroom-operator/darkroom-operator/gate/request"
	"github.com/darkroom-operator/darkroom-operator/gate/source"
)

// load fetches the original of a request, conditionally if an entry is known, and returns the known entry or a new
// one.
func (p *Pipeline) load(
	ctx context.Context, key string, r request.Request, known *cache.Entry,
) (_ response, err error) {
	defer recovered(&err)
	asked := source.Request{Path: r.Path, Via: r.Via}
	if known != nil {
		asked.Known = known.Source
	}
	fetched, done, err := p.fetchOnce(ctx, asked)
	defer done()
	var unchanged *notModified
	if errors.As(err, &unchanged) {
		return response{p.renew(key, r, known, unchanged.Origin, false), Revalidated}, nil
	}
	if err != nil {
		if problem.Of(err).Kind.IsAboutImage() {
			p.recordVersion(r, cache.Origin{Validated: time.Now()}) // invalidates other results of the original
		}
		return p.rememberFailure(r.Original(), key, known, err)
	}
	if known != nil && fetched.Original == known.Original {
		return response{p.renew(key, r, known, fetched.Origin, true), Revalidated}, nil
	}
	p.recordVersion(r, fetched.Origin)
	transformed, err := p.transform(ctx, fetched, r)
	if err != nil {
		return p.rememberFailure(key, key, known, err)
	}
	contentType := original.Type(transformed.body)
	if contentType == "" {
		return p.rememberFailure(key, key, known, problem.New(problem.UpstreamFailed,
			"Darkroom returned something that is not an image"))
	}
	entry := cache.NewEntry(transformed.body, contentType, fetched.Origin)
	switch {
	case fetched.Control.NoStore:
		p.cache.Remove(key)
	case transformed.late: // a later request may get WebP
		entry.Control = original.Control{Bounded: true}
	default:
		p.cache.Put(key, entry)
	}
	return response{entry, Miss}, nil
}

// recordVersion records the state of an original at the source; the zero value is a missing or refused original.
func (p *Pipeline) recordVersion(r request.Request, of cache.Origin) {
	of.Source = original.Validators{} // their length is unbounded
	_, _ = p.versions.Set(r.Original(), of)
}

// renew returns a known entry with the current caching rules and validators of an unchanged original. The original
// may have come from another source, which does not know the previous validators. A response without a body keeps the
// caching rules unless it has its own.
func (p *Pipeline) renew(
	key string, r request.Request, known *cache.Entry, fetched cache.Origin, hasBody bool,
) *cache.Entry {
	renewed := *known
	renewed.Validated, renewed.Source = fetched.Validated, fetched.Source
	if hasBody || fetched.Control != (original.Control{}) {
		renewed.Control = fetched.Control
	}
	p.recordVersion(r, renewed.Origin)
	switch {
	case renewed.Control.NoStore:
		p.cache.Remove(key)
	case renewed.Source == known.Source:
		p.cache.Revalidate(key, &renewed)
	default:
		p.cache.Put(key, &renewed)
	}
	return &renewed
}

// rememberFailure remembers a failure under the name of a request or its original, and returns the result of
// staleOrFailure. A refusal for lack of capacity is remembered only if a known entry is served, because the next
// request may be admitted.
func (p *Pipeline) rememberFailure(name, key string, known *cache.Entry, err error) (response, error) {
	if errors.Is(err, context.Canceled) {
		return response{state: Miss}, err
	}
	failure := problem.Of(err)
	stale, err := p.staleOrFailure(key, known, failure)
	if stale.state == Stale || failure.Kind != problem.Busy {
		_, _ = p.failures.Set(name, failure)
	}
	if stale.state == Stale {
		p.failures.SetExpiresAfter(name, staleLifetime)
	}
	return stale, err
}

// staleOrFailure returns the known entry if it may be served instead of a failure, or the failure. It removes the entry
// if the image is gone or refused.
func (p *Pipeline) staleOrFailure(key string, known *cache.Entry, failure *problem.Problem) (response, error) {
	switch {
	case failure.Kind.IsAboutImage():
		p.cache.Remove(key)
	case known != nil && p.servable(known):
		return response{known, Stale}, nil
	}
	return response{state: Miss}, failure
}

// recentFailure returns a remembered failure of a request or its original; nil if there is none.
func (p *Pipeline) recentFailure(r request.Request) *problem.Problem {
	failure, ok := p.failures.GetIfPresent(r.Original())
	if !ok {
		failure, _ = p.failures.GetIfPresent(r.Key())
	}
	return failure
}

// recovered converts a panic to an error with a stack trace.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
	}
}
