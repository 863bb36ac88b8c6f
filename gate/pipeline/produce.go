package pipeline

import (
	"context"
	"net/http"
	"time"

	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/prepare"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
	"github.com/darkroom-operator/darkroom-operator/gate/request"
	"github.com/darkroom-operator/darkroom-operator/gate/timing"
)

// transform applies the transformation of a request to an original, or passes it on. Default parameters
// never refuse: what they make impossible is done without them.
func (p *Pipeline) transform(ctx context.Context, of *held, r request.Request) ([]byte, error) {
	made, err := p.apply(ctx, of, r.Transform)
	if err != nil && problem.Of(err).Status < http.StatusUnsupportedMediaType && r.Own != r.Transform {
		made, err = p.apply(ctx, of, r.Own)
	}
	if err == nil {
		return made, nil
	}
	size, status := of.info.Size, problem.Of(err).Status
	switch asked := r.Own != (request.Transform{}); {
	case status >= http.StatusInternalServerError,
		asked && status != http.StatusUnsupportedMediaType,
		asked && (size.Width > p.Rules.MaxWidth || size.Height > p.Rules.MaxHeight || int64(len(of.body)) > p.Memory/16):
		return nil, err
	}
	p.metrics.untransformed.WithLabelValues(of.info.ContentType).Inc()
	return of.body, nil
}

// apply returns the result of a transformation, with the color profile of the original.
func (p *Pipeline) apply(ctx context.Context, of *held, t request.Transform) ([]byte, error) {
	if of.info.Format != "" {
		t = p.Rules.Resolve(t, of.info.Size)
	}
	if t == (request.Transform{}) {
		return of.body, nil
	}
	made, err := p.transformed(ctx, of, t)
	if err != nil {
		return nil, err
	}
	return original.WithProfile(made, original.Profile(of.body)), nil
}

// transformed returns the result of a transformation. A problem with status 415 means that the
// image cannot be transformed.
func (p *Pipeline) transformed(ctx context.Context, of *held, t request.Transform) ([]byte, error) {
	info, body := of.info, of.body
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
		smaller, err := p.prepare(ctx, of, plan, t.Scaled(info.Size))
		if err != nil {
			return nil, err
		}
		if smaller != nil {
			t, body = prepare.Exact(t, info.Size), smaller
			if info, err = original.Inspect(body); err != nil {
				return nil, err
			}
		}
	}
	made, err := p.ask(ctx, body, info, t)
	if problem.Of(err).Status != http.StatusUnsupportedMediaType {
		return made, err
	}
	repaired, ok := p.repair(ctx, of)
	if !ok {
		return nil, err
	}
	return p.ask(ctx, repaired, info, t)
}

// repair returns a file that Darkroom can read, of an original that browsers show although it is damaged.
func (p *Pipeline) repair(ctx context.Context, of *held) ([]byte, bool) {
	if of.info.Format == "png" {
		repaired := original.RepairPNG(of.body)
		return repaired, repaired != nil
	}
	plan := prepare.Repair(of.info)
	if plan == (prepare.Plan{}) || plan.Weight > p.Memory/5 {
		return nil, false
	}
	repaired, err := p.prepare(ctx, of, plan, of.info.Size)
	return repaired, err == nil && repaired != nil
}

// prepare returns nil if the image must be left alone.
func (p *Pipeline) prepare(ctx context.Context, of *held, plan prepare.Plan, result request.Size) ([]byte, error) {
	if plan.Weight > p.Memory/5 {
		return nil, problem.New(http.StatusRequestEntityTooLarge,
			"turning the original upright needs %d MiB, more than the memory limit of the gate allows", plan.Weight>>20)
	}
	pixels, done, err := p.decode(ctx, of, plan)
	defer done()
	if err != nil {
		return nil, err
	}
	defer func(start time.Time) { timing.Add(ctx, "prepare", time.Since(start)) }(time.Now())
	pixels.mu.Lock()
	defer pixels.mu.Unlock()
	return plan.Do(pixels.image, of.info, result)
}

// ask lets Darkroom transform an image when it has the memory for it.
func (p *Pipeline) ask(ctx context.Context, body []byte, info original.Info, t request.Transform) ([]byte, error) {
	weight := original.Weight(info, int64(len(body)), t)
	if weight > p.queues.heaviest {
		return nil, problem.New(http.StatusRequestEntityTooLarge,
			"the transformation needs %d MiB, more than the memory limit of Darkroom allows", weight>>20)
	}
	release, err := p.queues.transforms.Acquire(ctx, max(weight, p.queues.lightest))
	if err != nil {
		return nil, err
	}
	defer release(0)
	measure := since(ctx, "transform", p.metrics.transforms)
	made, err := p.transformer.Transform(ctx, body, t.Query())
	measure(err)
	return made, err
}
