package pipeline

import (
	"context"
	"slices"
	"time"

	"github.com/darkroom-operator/darkroom-operator/gate/problem"
	"github.com/darkroom-operator/darkroom-operator/gate/render"
	"github.com/darkroom-operator/darkroom-operator/gate/request"
	"github.com/darkroom-operator/darkroom-operator/gate/source"
	"github.com/darkroom-operator/darkroom-operator/gate/timing"
)

// result is the file of a transformed image. It is late if it should have been WebP, and is not.
type result struct {
	body []byte
	late bool
}

// rendering is a result that the gate makes.
type rendering struct {
	plan render.Plan
	// ready is closed when the other fields are set.
	ready chan struct{}
	result
	err error
}

// batch is what is made of an original after one decoding.
type batch struct {
	renderings []*rendering
	// most is the memory that results which join may need; zero when it has begun.
	most int64
}

// maxTogether bounds the results of a batch, which has one turn.
const maxTogether = 8

// patience is the time after which WebP is not encoded any more, which takes longer than JPEG or PNG: who waits
// behind it would be refused.
const patience = 15 * time.Second

// wish is a request that waits for an original.
type wish struct {
	asked source.Request
	request.Request
	// known is the version of the original whose result is known.
	known string
}

// gather lets the results that wait for an original be made together.
func (p *Pipeline) gather(of *flight, asked source.Request) {
	if of.info.Format == "" || of.ctx.Err() != nil {
		return
	}
	var plans []render.Plan
	p.wishes.Range(func(waiting, _ any) bool {
		if r := waiting.(*wish); r.asked == asked && r.known != of.Original {
			if _, plan, err := p.planned(of.info, r.Transform, r.WebP); err == nil && plan != nil {
				plans = append(plans, *plan)
			}
		}
		return true
	})
	slices.SortFunc(plans, render.Plan.Compare)
	of.mu.Lock()
	defer of.mu.Unlock()
	for _, plan := range plans {
		p.join(of, plan)
	}
}

// plansOf returns the plans of renderings, and more.
func plansOf(renderings []*rendering, more ...render.Plan) []render.Plan {
	for _, r := range renderings {
		more = append(more, r.plan)
	}
	return more
}

// join returns the rendering of a plan: one that there is, or one in a batch that waits and has the memory for it, or in
// a new batch. The caller holds the lock of the original, and no batch begins before it is released.
func (p *Pipeline) join(of *flight, plan render.Plan) (r *rendering, found bool) {
	var joined *batch
	for _, b := range of.batches {
		for _, r := range b.renderings {
			if r.plan == plan {
				return r, true
			}
		}
		if joined == nil && len(b.renderings) < maxTogether && render.Weight(plansOf(b.renderings, plan)) <= b.most {
			joined = b
		}
	}
	if joined == nil {
		joined = &batch{most: p.RenderMemory()}
		of.batches = append(of.batches, joined)
		go p.makeBatch(of, joined)
	}
	r = &rendering{plan: plan, ready: make(chan struct{})}
	joined.renderings = append(joined.renderings, r)
	return r, false
}

// reserve returns the memory for a batch. Results that need more cannot join it any more.
func (f *flight) reserve(b *batch, least int64) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	b.most = max(render.Weight(plansOf(b.renderings)), least)
	return b.most
}

// begin returns the results of a batch, the smallest first. No other ones can join it any more.
func (f *flight) begin(b *batch) []*rendering {
	f.mu.Lock()
	defer f.mu.Unlock()
	b.most = 0
	slices.SortFunc(b.renderings, func(a, b *rendering) int { return a.plan.Compare(b.plan) })
	return b.renderings
}

// end lets results that could not be made fail, and later requests try again.
func (f *flight) end(b *batch, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.batches = slices.DeleteFunc(f.batches, func(other *batch) bool { return other == b })
	for _, r := range b.renderings {
		select {
		case <-r.ready:
		default:
			r.err = err
			close(r.ready)
		}
	}
}

// renderInBatch makes what is planned for an original, after one decoding for all results that wait, and returns when
// it is ready.
func (p *Pipeline) renderInBatch(ctx context.Context, of *flight, plan render.Plan) (result, error) {
	if start := time.Now(); !timing.Same(ctx, of.ctx) {
		defer func() { timing.Add(ctx, "shared", time.Since(start)) }()
	}
	for again := false; ; again = true {
		of.mu.Lock()
		r, found := p.join(of, plan)
		of.mu.Unlock()
		select {
		case <-r.ready:
		case <-ctx.Done():
			return result{}, ctx.Err()
		}
		// A batch that others began may have waited for too long before.
		if !found || again || !problem.Is(r.err, problem.Busy) {
			return r.result, r.err
		}
	}
}

// makeBatch makes the results of a batch.
func (p *Pipeline) makeBatch(of *flight, b *batch) {
	if err := p.renderAll(of.ctx, of, b); err != nil {
		of.end(b, err)
	}
}

// renderAll makes the results of a batch when there is the memory for it, or those that are quicker to make than WebP
// if it is too late.
func (p *Pipeline) renderAll(ctx context.Context, of *flight, b *batch) (err error) {
	asked := time.Now()
	release, err := p.queues.renders.Acquire(ctx, of.reserve(b, p.queues.lightestRender))
	if err != nil {
		return err
	}
	defer release(0)
	defer recovered(&err)
	start := time.Now()
	defer func() {
		p.metrics.renders.WithLabelValues(outcome(err)).Observe(time.Since(start).Seconds())
	}()
	renderings, late := of.begin(b), start.Sub(asked) > patience
	pixels, unreadable := render.Decode(ctx, of.body, plansOf(renderings))
	for _, r := range renderings {
		if err := ctx.Err(); err != nil {
			return err
		}
		r.late, r.err = late && r.plan.IsWebP(), unreadable
		if unreadable == nil {
			r.body, r.err = makeOne(ctx, of.body, pixels, r.plan, r.late)
		}
		close(r.ready)
	}
	return nil
}

func makeOne(
	ctx context.Context, body []byte, pixels render.Pixels, plan render.Plan, late bool,
) (_ []byte, err error) {
	defer recovered(&err)
	if late {
		plan = plan.WithoutWebP()
	}
	return pixels.Make(ctx, body, plan)
}
