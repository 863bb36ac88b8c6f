package pipeline

import (
	"context"
	"time"

	"github.com/darkroom-operator/darkroom-operator/gate/cache"
	"github.com/darkroom-operator/darkroom-operator/gate/encode"
	"github.com/darkroom-operator/darkroom-operator/gate/request"
	"github.com/darkroom-operator/darkroom-operator/gate/timing"
)

// known returns the entry of a request, or nil. One in WebP can be made of that in its own format.
func (p *Pipeline) known(ctx context.Context, client, key string, r request.Request) (*cache.Entry, error) {
	known := p.cache.Get(key) //nolint:contextcheck // reads of the disk do not take long
	if r.WebP == 0 || known != nil && p.usable(r.Path, known) != Miss {
		return known, nil
	}
	other := p.cache.Get(r.InItsFormat().Key()) //nolint:contextcheck // as above
	if other == nil || p.usable(r.Path, other) == Miss {
		return known, nil
	}
	known, err := p.encode(ctx, client, other, r.WebP)
	if err == nil {
		p.cache.Put(key, known)
	}
	return known, err
}

// encode returns an entry as WebP of a quality other than zero, or the same entry if that is not smaller
// or cannot be made. It waits for its turn, and the error is that of the queue.
func (p *Pipeline) encode(ctx context.Context, client string, e *cache.Entry, quality int) (*cache.Entry, error) {
	if quality == 0 {
		return e, nil
	}
	img, ok := encode.New(e.Body)
	if !ok || img.Weight > p.Memory/5 {
		return e, nil
	}
	leave, err := p.queues.encodes.acquire(ctx, client, 1)
	if err != nil {
		return nil, err
	}
	defer leave(0)
	release, err := p.queues.shrink.acquire(ctx, client, img.Weight)
	if err != nil {
		return nil, err
	}
	defer release(0)
	start := time.Now()
	body, result := asWebP(img, quality)
	timing.Add(ctx, "encode", time.Since(start))
	p.metrics.encodes.WithLabelValues(result).Observe(time.Since(start).Seconds())
	if body == nil {
		return e, nil
	}
	made := cache.NewEntry(body, "image/webp", e.Validated)
	made.Source, made.Original, made.OriginalBytes, made.Control = e.Source, e.Original, e.OriginalBytes, e.Control
	return made, nil
}

// asWebP returns nil if the image is to be served as it is, and why.
func asWebP(img encode.Image, quality int) (body []byte, result string) {
	var err error
	func() {
		defer recovered(&err)
		body, err = img.WebP(quality)
	}()
	switch {
	case err != nil:
		return nil, "error"
	case body == nil:
		return nil, "larger"
	}
	return body, "ok"
}
