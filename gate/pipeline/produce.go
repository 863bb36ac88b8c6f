package pipeline

import (
	"context"
	"net/http"
	"time"

	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
	"github.com/darkroom-operator/darkroom-operator/gate/render"
	"github.com/darkroom-operator/darkroom-operator/gate/request"
)

// transform applies the transformation of a request to an original, or passes it on. Default parameters
// never refuse: what they make impossible is done without them. It is late if it should have been WebP.
func (p *Pipeline) transform(ctx context.Context, of *held, r request.Request) (made []byte, late bool, err error) {
	made, late, err = p.apply(ctx, of, r.Transform, r.WebP)
	if err != nil && problem.Of(err).Status < http.StatusUnsupportedMediaType && r.Own != r.Transform {
		made, late, err = p.apply(ctx, of, r.Own, r.WebP)
	}
	if err == nil {
		return made, late, nil
	}
	size, status := of.info.Size, problem.Of(err).Status
	switch asked := r.Own != (request.Transform{}); {
	case status >= http.StatusInternalServerError,
		asked && status != http.StatusUnsupportedMediaType,
		asked && (size.Width > p.Rules.MaxWidth || size.Height > p.Rules.MaxHeight || int64(len(of.body)) > p.Memory/16):
		return nil, false, err
	}
	p.metrics.untransformed.WithLabelValues(of.info.ContentType).Inc()
	return of.body, false, nil
}

// apply returns the result of a transformation, as WebP if that is asked for and possible. The gate renders plain
// transformations, and Darkroom does what only it knows, and what the gate has not the memory for. A problem with
// status 415 means that the image cannot be transformed.
func (p *Pipeline) apply(
	ctx context.Context, of *held, t request.Transform, webp bool,
) (made []byte, late bool, err error) {
	info := of.info
	if info.Format == "" {
		if t == (request.Transform{}) {
			return of.body, false, nil
		}
		return nil, false, problem.New(http.StatusUnsupportedMediaType,
			"images of type %s cannot be transformed", info.ContentType)
	}
	t = p.Rules.Resolve(t, info.Size)
	if t == (request.Transform{}) {
		return p.asWebP(ctx, of.body, info, 0, webp)
	}
	if err := p.Rules.Check(t, info.Size, p.MaxSourcePixels); err != nil {
		return nil, false, err
	}
	if t.Plain() && !p.OnlyDarkroom {
		if plan, ok := p.plan(info, t, webp); ok {
			return p.render(ctx, of.body, plan, plan.WithoutWebP().Do)
		}
	}
	if !p.OnlyDarkroom {
		t = t.Sized(info.Size)
	}
	made = of.body
	if asked := t.WithoutQuality(); asked != (request.Transform{}) {
		if made, err = p.askUpright(ctx, of, asked); err != nil {
			return nil, false, err
		}
		made = original.WithProfile(made, original.Profile(of.body))
		if info, err = original.Inspect(made); err != nil {
			return nil, false, problem.New(http.StatusBadGateway, "Darkroom returned something that is not an image")
		}
	}
	return p.asWebP(ctx, made, info, t.Quality, webp)
}

// plan returns how the gate renders a result, and false if that needs too much memory.
func (p *Pipeline) plan(info original.Info, t request.Transform, webp bool) (plan render.Plan, ok bool) {
	if plan = render.New(info, t, webp); plan.IsWebP() && plan.Weight > p.Memory/5 {
		plan = render.New(info, t, false)
	}
	return plan, plan.Weight <= p.Memory/5
}

// asWebP returns an image as WebP of a quality if that is asked for, possible and smaller.
func (p *Pipeline) asWebP(
	ctx context.Context, body []byte, info original.Info, quality int, asked bool,
) (made []byte, late bool, err error) {
	if !asked || info.Format == "" {
		return body, false, nil
	}
	plan, ok := p.plan(info, request.Transform{Quality: quality}, true)
	if !ok || !plan.IsWebP() {
		return body, false, nil
	}
	made, late, err = p.render(ctx, body, plan, asItIs)
	if problem.Of(err).Status == http.StatusUnsupportedMediaType {
		return body, false, nil
	}
	return made, late, err
}

// asItIs takes the place of render.Plan.Do.
func asItIs(_ context.Context, body []byte) ([]byte, error) { return body, nil }

// patience is the time after which WebP is not encoded any more, which takes longer than JPEG or PNG: who waits
// behind it would be refused.
const patience = 15 * time.Second

// render does what is planned when there is the memory for it, or something else if it is too late for WebP.
func (p *Pipeline) render(
	ctx context.Context, body []byte, plan render.Plan, without func(context.Context, []byte) ([]byte, error),
) (made []byte, late bool, err error) {
	asked := time.Now()
	release, err := p.queues.renders.Acquire(ctx, max(plan.Weight, p.queues.lightestRender))
	if err != nil {
		return nil, false, err
	}
	defer release(0)
	do := plan.Do
	if late = plan.IsWebP() && time.Since(asked) > patience; late {
		do = without
	}
	defer recovered(&err)
	defer func(start time.Time) {
		p.metrics.renders.WithLabelValues(outcome(err)).Observe(time.Since(start).Seconds())
	}(time.Now())
	made, err = do(ctx, body)
	return made, late, err
}

// askUpright lets Darkroom transform an original, which it gets upright.
func (p *Pipeline) askUpright(ctx context.Context, of *held, t request.Transform) ([]byte, error) {
	info, body := of.info, of.body
	if info.JPEG.Length > 0 {
		body = body[:info.JPEG.Length] // Darkroom looks for an orientation in all of it
	}
	if info.Orientation != 1 {
		var err error
		if body, info, err = p.upright(ctx, of); err != nil {
			return nil, err
		}
	}
	made, err := p.ask(ctx, body, info, t)
	if problem.Of(err).Status != http.StatusUnsupportedMediaType {
		return made, err
	}
	repaired, _, failure := p.upright(ctx, of)
	if failure != nil {
		return nil, err
	}
	return p.ask(ctx, repaired, info, t)
}

// upright returns an original as a file that Darkroom can read.
func (p *Pipeline) upright(ctx context.Context, of *held) ([]byte, original.Info, error) {
	plan := render.Upright(of.info)
	if plan.Weight > p.Memory/5 {
		return nil, original.Info{}, problem.New(http.StatusRequestEntityTooLarge,
			"turning the original upright needs %d MiB, more than the memory limit of the gate allows", plan.Weight>>20)
	}
	body, _, err := p.render(ctx, of.body, plan, plan.Do)
	if err != nil {
		return nil, original.Info{}, err
	}
	info, err := original.Inspect(body)
	return body, info, err
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
