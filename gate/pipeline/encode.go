package pipeline

import (
	"context"
	"time"

	"github.com/darkroom-operator/darkroom-operator/gate/cache"
	"github.com/darkroom-operator/darkroom-operator/gate/encode"
	"github.com/darkroom-operator/darkroom-operator/gate/request"
	"github.com/darkroom-operator/darkroom-operator/gate/timing"
)

// known returns the entry of a request and its state, or nil. One in WebP can be made of that in its own format.
func (p *Pipeline) known(
	ctx context.Context, key string, r request.Request,
) (known *cache.Entry, state State, err error) {
	known, state = p.lookUp(r) //nolint:contextcheck // reads of the disk do not take long
	if r.WebP == 0 || state != Miss {
		return known, state, nil
	}
	other, otherState := p.lookUp(r.InItsFormat()) //nolint:contextcheck // as above
	if otherState == Miss {
		return known, Miss, nil
	}
	if known, err = p.encode(ctx, other, r.WebP); err != nil {
		return nil, Miss, err
	}
	p.cache.Put(key, known)
	return known, otherState, nil
}

// lookUp returns an entry of the cache and its state, or nil.
func (p *Pipeline) lookUp(r request.Request) (*cache.Entry, State) {
	if found := p.cache.Get(r.Key()); found != nil {
		return p.confirmed(r, found)
	}
	return nil, Miss
}

// encode returns an entry as WebP of a quality other than zero, or the same entry if that is not smaller
// or cannot be made. It waits for its turn, and the error is that of the queue.
func (p *Pipeline) encode(ctx context.Context, e *cache.Entry, quality int) (*cache.Entry, error) {
	if quality == 0 {
		return e, nil
	}
	img, ok := encode.New(e.Body)
	if !ok || img.Weight > p.Memory/5 {
		return e, nil
	}
	release, err := p.queues.shrink.Acquire(ctx, max(img.Weight, p.queues.lightestEncoding))
	if err != nil {
		return nil, err
	}
	defer release(0)
	start := time.Now()
	body, err := asWebP(img, quality)
	timing.Add(ctx, "encode", time.Since(start))
	result := "ok"
	switch {
	case err != nil:
		result = "error"
	case body == nil:
		result = "larger"
	}
	p.metrics.encodes.WithLabelValues(result).Observe(time.Since(start).Seconds())
	if body == nil {
		return e, nil
	}
	return cache.NewEntry(body, "image/webp", e.Origin), nil
}

func asWebP(img encode.Image, quality int) (body []byte, err error) {
	defer recovered(&err)
	return img.WebP(quality)
}
