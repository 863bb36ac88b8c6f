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
	"github.com/darkroom-operator/darkroom-operator/gate/prepare"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
	"github.com/darkroom-operator/darkroom-operator/gate/request"
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
	made, err := p.transformed(ctx, client, body, info, t)
	failure := problem.Of(err)
	switch asked := t != p.Rules.Default(); {
	case err == nil:
		return original.WithProfile(made, original.Profile(body)), nil
	case failure.Status >= http.StatusInternalServerError,
		asked && failure.Status != http.StatusUnsupportedMediaType,
		asked && (info.Size.Width > p.Rules.MaxWidth || info.Size.Height > p.Rules.MaxHeight || int64(len(body)) > p.Memory/16):
		return nil, err
	}
	p.metrics.untransformed.WithLabelValues(info.ContentType).Inc()
	return body, nil
}

// transformed returns the result of a transformation. A problem with status 415 means that the
// image cannot be transformed.
func (p *Pipeline) transformed(ctx context.Context, client string, body []byte, info original.Info, t request.Transform) ([]byte, error) {
	if info.Format == "" {
		return nil, problem.New(http.StatusUnsupportedMediaType, "images of type %s cannot be transformed", info.ContentType)
	}
	if err := p.Rules.Check(t, info.Size, p.MaxSourcePixels); err != nil {
		return nil, err
	}
	if info.JPEG.Length > 0 {
		body = body[:info.JPEG.Length] // Darkroom looks for an orientation in all of it
	}
	if plan := prepare.New(info, t, p.ShrinkFirst, p.Memory/5); plan != (prepare.Plan{}) {
		prepared, err := p.prepare(ctx, client, body, plan, info, t.Scaled(info.Size))
		if err != nil {
			return nil, err
		}
		if prepared != nil {
			t = prepare.Exact(t, info.Size)
			body = prepared
			if info, err = original.Inspect(body); err != nil {
				return nil, err
			}
		}
	}
	return p.ask(ctx, client, body, info, t)
}

// prepare returns nil if the image must be left alone.
func (p *Pipeline) prepare(ctx context.Context, client string, body []byte, plan prepare.Plan, info original.Info, result request.Size) ([]byte, error) {
	if plan.Weight > p.Memory/5 {
		return nil, problem.New(http.StatusRequestEntityTooLarge,
			"turning the original upright needs %d MiB, more than the memory limit of the gate allows", plan.Weight>>20)
	}
	release, err := p.queues.shrink.acquire(ctx, client, plan.Weight)
	if err != nil {
		return nil, err
	}
	defer release(0)
	decoded, err := prepare.Decode(body, info)
	if err != nil {
		return nil, problem.New(http.StatusUnsupportedMediaType, "the original cannot be decoded").Because(err)
	}
	return plan.Do(decoded, info, result)
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
