package serve

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/darkroom-operator/darkroom-operator/gate/admission"
	"github.com/darkroom-operator/darkroom-operator/gate/cache"
	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
	"github.com/darkroom-operator/darkroom-operator/gate/request"
	"github.com/darkroom-operator/darkroom-operator/gate/shrink"
	"github.com/darkroom-operator/darkroom-operator/gate/source"
)

// produce asks the source and makes an entry of what it returns.
func (p *Pipeline) produce(ctx context.Context, client, key string, r request.Request, known *cache.Entry) (result, error) {
	response, body, release, err := p.fetch(ctx, client, r.Path, known)
	if err != nil {
		return result{state: Miss}, err
	}
	if response.Unchanged {
		return result{p.cache.Revalidate(key, known, time.Now()), Revalidated}, nil
	}
	defer release(0)
	made, err := p.transform(ctx, client, body, r)
	if err != nil {
		return result{state: Miss}, err
	}
	contentType := original.Type(made)
	if contentType == "" {
		return result{state: Miss}, problem.New(http.StatusBadGateway, "Darkroom returned something that is not an image")
	}
	entry := cache.NewEntry(made, contentType, response.Validators, time.Now())
	p.cache.Put(key, entry)
	return result{entry, Miss}, nil
}

// fetch reads an original within the limits of the gate's memory. If it has changed, release
// returns the memory of its body.
func (p *Pipeline) fetch(ctx context.Context, client, path string, known *cache.Entry) (response *source.Response, body []byte, release admission.Release, err error) {
	leave, err := p.queues.fetches.acquire(ctx, client, 1)
	if err != nil {
		return nil, nil, nil, err
	}
	defer leave(0)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	measure := since(p.metrics.fetches)
	defer func() {
		if err != nil && errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			err = source.Failure(context.DeadlineExceeded)
		}
		measure(err)
	}()
	timer := time.AfterFunc(source.Timeout, func() { cancel(context.DeadlineExceeded) })
	defer timer.Stop()
	if p.stale(known) {
		timer.Reset(staleWait)
	}
	response, err = p.Source.Open(ctx, path, cmp.Or(known, &cache.Entry{}).Source)
	timer.Stop()
	if err != nil || response.Unchanged {
		return response, nil, nil, err
	}
	defer response.Body.Close()
	size := response.Length
	if size < 0 || size > p.MaxSourceBytes {
		size = p.MaxSourceBytes
	}
	release, err = p.queues.originals.acquire(ctx, client, size)
	if err != nil {
		return nil, nil, nil, err
	}
	timer.Reset(source.Timeout)
	body, err = response.Read(p.MaxSourceBytes)
	release(int64(cap(body))) // without a length, more was reserved
	return response, body, release, err
}

// transform checks an original and applies the transformation of a request.
func (p *Pipeline) transform(ctx context.Context, client string, body []byte, r request.Request) ([]byte, error) {
	info, err := original.Inspect(body)
	if err != nil {
		return nil, err
	}
	if info.Size.Pixels() > p.MaxSourcePixels {
		return nil, problem.New(http.StatusRequestEntityTooLarge,
			"the original has %dx%d pixels; the maximum is %d pixels", info.Size.Width, info.Size.Height, p.MaxSourcePixels)
	}
	t := r.Transform
	if t == (request.Transform{}) {
		return body, nil
	}
	if info.Format == "" || info.Format == "gif" {
		return nil, problem.New(http.StatusUnsupportedMediaType, "images of type %s cannot be transformed", info.ContentType)
	}
	if err := p.Rules.Check(t, info.Size, p.MaxSourcePixels); err != nil {
		return nil, err
	}
	if factor := shrink.Factor(info, t); p.ShrinkFirst && factor > 1 && shrink.Weight(info) <= p.Memory/5 {
		smaller, err := p.shrink(ctx, client, body, factor, info, t.Scaled(info.Size))
		if err != nil {
			return nil, err
		}
		if smaller != nil {
			t = shrink.Exact(t, info.Size)
			body = smaller
			if info, err = original.Inspect(body); err != nil {
				return nil, err
			}
		}
	}
	return p.ask(ctx, client, body, info, t)
}

// shrink returns nil if the image must be left alone.
func (p *Pipeline) shrink(ctx context.Context, client string, body []byte, factor int, info original.Info, result request.Size) ([]byte, error) {
	release, err := p.queues.shrink.acquire(ctx, client, shrink.Weight(info))
	if err != nil {
		return nil, err
	}
	defer release(0)
	return shrink.JPEG(body, factor, info, result), nil
}

// ask lets Darkroom transform an image when it has the memory for it.
func (p *Pipeline) ask(ctx context.Context, client string, body []byte, info original.Info, t request.Transform) ([]byte, error) {
	weight := original.Weight(info, int64(len(body)), t)
	if weight > p.queues.heaviest {
		return nil, problem.New(http.StatusRequestEntityTooLarge,
			"the transformation needs %d MiB, more than the memory limit of Darkroom allows", weight>>20)
	}
	release, err := p.queues.transforms.acquire(ctx, client, max(weight, p.queues.lightest))
	if err != nil {
		return nil, err
	}
	defer release(0)
	measure := since(p.metrics.transforms)
	made, err := p.transformer.Transform(ctx, body, t.Query())
	measure(err)
	return made, err
}
