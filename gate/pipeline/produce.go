package pipeline

import (
	"context"

	"github.com/darkroom-operator/darkroom-operator/gate/original"
	"github.com/darkroom-operator/darkroom-operator/gate/problem"
	"github.com/darkroom-operator/darkroom-operator/gate/render"
	"github.com/darkroom-operator/darkroom-operator/gate/request"
)

// transform applies the transformation of a request to an original, or passes the original on. Default parameters
// that cannot be applied are ignored.
func (p *Pipeline) transform(ctx context.Context, of *flight, r request.Request) (result, error) {
	transformed, err := p.apply(ctx, of, r.Transform, r.WebP)
	if problem.Is(err, problem.Invalid, problem.TooLarge) && r.Own != r.Transform {
		transformed, err = p.apply(ctx, of, r.Own, r.WebP)
	}
	if problem.Is(err, problem.Untransformable) && (of.info.Format != "" || of.info.ContentType == "image/jpeg") {
		if _, isNew := p.logged.SetIfAbsent(r.Path, struct{}{}); isNew {
			p.Log.Warn("Image is damaged or has an unsupported encoding", "path", r.Path, "error", err)
		}
	}
	if err == nil || !p.passesOn(of, r, problem.Of(err).Kind) {
		return transformed, err
	}
	p.metrics.untransformed.WithLabelValues(of.info.ContentType).Inc()
	return result{body: of.body}, nil
}

// passesOn reports whether a request that cannot be fulfilled gets the original instead. This is the case for
// requests without parameters, and for images within the limits that cannot be transformed.
func (p *Pipeline) passesOn(of *flight, r request.Request, why problem.Kind) bool {
	switch {
	case why.IsFailure():
		return false
	case r.Own == (request.Transform{}):
		return true
	}
	size := of.info.Size
	return why == problem.Untransformable &&
		size.Width <= p.Rules.MaxWidth && size.Height <= p.Rules.MaxHeight && int64(len(of.body)) <= p.PassedOnMemory()
}

// apply returns the result of a transformation, as WebP if requested and possible. The gate renders plain
// transformations. Darkroom handles the rest, including images that exceed the memory of the gate.
func (p *Pipeline) apply(ctx context.Context, of *flight, t request.Transform, webp bool) (result, error) {
	if of.info.Format == "" {
		if t == (request.Transform{}) {
			return result{body: of.body}, nil
		}
		return result{}, problem.New(problem.Untransformable,
			"images of type %s cannot be transformed", of.info.ContentType)
	}
	t, plan, err := p.planned(of.info, t, webp)
	switch {
	case err != nil:
		return result{}, err
	case plan != nil:
		return p.renderInBatch(ctx, of, *plan)
	case t == (request.Transform{}):
		return result{body: of.body}, nil
	}
	if !p.OnlyDarkroom {
		t = t.Sized(of.info.Size)
	}
	asked := t.WithoutQuality()
	if asked == (request.Transform{}) {
		return p.reencode(ctx, of, t.Quality, webp)
	}
	body, err := p.askUpright(ctx, of, asked)
	if err != nil {
		return result{}, err
	}
	body = original.WithProfile(body, original.Profile(of.body))
	info, err := original.Inspect(body)
	if err != nil {
		return result{}, problem.New(problem.UpstreamFailed, "Darkroom returned something that is not an image")
	}
	// Darkroom receives and returns another format if the original is rotated.
	webp = webp || of.info.Format == "webp"
	return p.reencode(ctx, &flight{body: body, info: info, ctx: of.ctx}, t.Quality, webp)
}

// planned resolves the sizes of a transformation, and returns a plan if the gate can render it, or nil.
func (p *Pipeline) planned(
	info original.Info, t request.Transform, webp bool,
) (request.Transform, *render.Plan, error) {
	t = p.Rules.Resolve(t, info.Size)
	if t == (request.Transform{}) {
		return t, p.webpOf(info, 0, webp), nil
	}
	if err := p.Rules.Check(t, info.Size, p.MaxSourcePixels); err != nil {
		return t, nil, err
	}
	if !t.Plain() || p.OnlyDarkroom {
		return t, nil, nil
	}
	plan := render.New(info, t, webp)
	if plan.IsWebP() && plan.Weight > p.RenderMemory() {
		plan = render.New(info, t, false)
	}
	if plan.Weight > p.RenderMemory() {
		return t, nil, nil
	}
	return t, &plan, nil
}

// webpOf returns the plan to convert an image to WebP, or nil if this is not requested or not possible.
func (p *Pipeline) webpOf(info original.Info, quality int, asked bool) *render.Plan {
	if !asked || info.Format == "" {
		return nil
	}
	plan, ok := render.AsWebP(info, quality)
	if !ok || plan.Weight > p.RenderMemory() {
		return nil
	}
	return &plan
}

// reencode encodes an image as WebP, or a JPEG file with another quality, if this is requested, possible and saves
// bytes.
func (p *Pipeline) reencode(ctx context.Context, of *flight, quality int, webp bool) (result, error) {
	plan := p.webpOf(of.info, quality, webp)
	if plan == nil && quality > 0 && of.info.Format == "jpeg" {
		again := render.New(of.info, request.Transform{Quality: quality}, false)
		plan = &again
	}
	if plan == nil || plan.Weight > p.RenderMemory() {
		return result{body: of.body}, nil
	}
	encoded, err := p.renderInBatch(ctx, of, *plan)
	if problem.Is(err, problem.Untransformable) {
		return result{body: of.body}, nil
	}
	return encoded, err
}

// askUpright lets Darkroom transform an upright copy of an original, in sRGB instead of CMYK.
func (p *Pipeline) askUpright(ctx context.Context, of *flight, t request.Transform) ([]byte, error) {
	info, body := of.info, of.body
	if info.JPEG.Length > 0 {
		body = body[:info.JPEG.Length] // Darkroom searches all of the file for an orientation
	}
	if info.Orientation != 1 || info.JPEG.CMYK && render.Upright(info).Weight <= p.RenderMemory() {
		var err error
		if body, info, err = p.upright(ctx, of); err != nil {
			return nil, err
		}
	}
	transformed, err := p.ask(ctx, body, info, t)
	if !problem.Is(err, problem.Untransformable) {
		return transformed, err
	}
	repaired, _, failure := p.upright(ctx, of)
	if failure != nil {
		return nil, err
	}
	return p.ask(ctx, repaired, info, t)
}

// upright returns an upright copy of an original that Darkroom can decode.
func (p *Pipeline) upright(ctx context.Context, of *flight) ([]byte, original.Info, error) {
	plan := render.Upright(of.info)
	if plan.Weight > p.RenderMemory() {
		return nil, original.Info{}, problem.New(problem.TooLarge,
			"turning the original upright needs %d MiB, more than the memory limit of the gate allows", plan.Weight>>20)
	}
	turned, err := p.renderInBatch(ctx, of, plan)
	if err != nil {
		return nil, original.Info{}, err
	}
	info, err := original.Inspect(turned.body)
	return turned.body, info, err
}

// ask lets Darkroom transform an image when Darkroom has the memory for it.
func (p *Pipeline) ask(ctx context.Context, body []byte, info original.Info, t request.Transform) ([]byte, error) {
	weight := original.Weight(info, int64(len(body)), t)
	if weight > p.queues.maxTransformWeight {
		return nil, problem.New(problem.TooLarge,
			"the transformation needs %d MiB, more than the memory limit of Darkroom allows", weight>>20)
	}
	release, err := p.queues.transforms.Acquire(ctx, max(weight, p.queues.minTransformWeight))
	if err != nil {
		return nil, err
	}
	defer release(0)
	measure := since(ctx, "transform", p.metrics.transforms)
	transformed, err := p.transformer.Transform(ctx, body, t.Query())
	measure(err)
	return transformed, err
}
