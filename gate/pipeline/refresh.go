package pipeline

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"

	"github.com/darkroom-operator/darkroom-operator/gate/cache"
	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
	"github.com/darkroom-operator/darkroom-operator/gate/request"
)

// refresh asks the source, and makes an entry if the original has changed or none is known.
func (p *Pipeline) refresh(ctx context.Context, client, key string, r request.Request, known *cache.Entry) (made result, err error) {
	defer recovered(&err)
	var validators original.Validators
	if known != nil {
		validators = known.Source
	}
	fetched, _, done, err := p.originals.Hold(ctx, version{r.Path, validators}, func(ctx context.Context) (h *held, err error) {
		defer recovered(&err)
		return p.fetch(ctx, client, r.Path, validators)
	})
	defer done()
	if err != nil {
		return p.recover(originalKey(r), key, r, known, err)
	}
	if known != nil && (fetched.unchanged || fetched.digest == known.Original) {
		p.confirm(r.Path, known.Original, fetched)
		if !fetched.unchanged && fetched.validators != known.Source && !fetched.control.NoStore {
			// The same original with another name, or of another source, which does not know that of the former.
			moved := *known
			moved.Source, moved.Control, moved.Validated = fetched.validators, fetched.control, fetched.at
			p.cache.Put(key, &moved)
			return result{&moved, Revalidated}, nil
		}
		return result{p.cache.Revalidate(key, known, fetched.at), Revalidated}, nil
	}
	p.confirm(r.Path, fetched.digest, fetched)
	body, err := p.transform(ctx, client, fetched, r)
	if err != nil {
		return p.recover(key, key, r, known, err)
	}
	contentType := original.Type(body)
	if contentType == "" {
		return p.recover(key, key, r, known, problem.New(http.StatusBadGateway, "Darkroom returned something that is not an image"))
	}
	entry := cache.NewEntry(body, contentType, fetched.at)
	entry.Source, entry.Original, entry.Control = fetched.validators, fetched.digest, fetched.control
	entry.OriginalBytes = int64(len(fetched.body))
	if entry, err = p.encode(ctx, client, entry, r.WebP); err != nil {
		return p.recover(key, key, r, known, err)
	}
	if fetched.control.NoStore {
		p.cache.Remove(key)
	} else {
		p.cache.Put(key, entry)
	}
	return result{entry, Miss}, nil
}

// confirm records that the source has an original.
func (p *Pipeline) confirm(path, digest string, fetched *held) {
	_, _ = p.versions.Set(path, confirmed{digest, fetched.at})
}

// recover remembers a failure by a name, and returns the known entry if it may be served for it.
func (p *Pipeline) recover(name, key string, r request.Request, known *cache.Entry, err error) (result, error) {
	if errors.Is(err, context.Canceled) {
		return result{state: Miss}, err
	}
	failure := problem.Of(err)
	stale := failure.Status >= http.StatusInternalServerError && known != nil && p.age(r.Path, known) < p.lifetime(known)+p.StaleIfError
	if stale || failure.Status != http.StatusServiceUnavailable {
		_, _ = p.failures.Set(name, failure)
	}
	if stale {
		p.failures.SetExpiresAfter(name, staleHold)
		return result{known, Stale}, nil
	}
	if failure.Status < http.StatusInternalServerError {
		p.cache.Remove(key) // the image is gone, or has become one that is refused
	}
	return result{state: Miss}, err
}

// recovered turns a panic into an error with its stack, for the log.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
	}
}
