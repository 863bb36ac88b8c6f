package pipeline

import (
	"context"
	"slices"
	"time"

	"github.com/darkroom-operator/darkroom-operator/gate/problem"
	"github.com/darkroom-operator/darkroom-operator/gate/render"
	"github.com/darkroom-operator/darkroom-operator/gate/timing"
)

// result is the file of a transformed image. It is late if it waited too long and is therefore not WebP.
type result struct {
	body []byte
	late bool
}

// rendering is a result that the gate renders.
type rendering struct {
	plan render.Plan
	// ready is closed when the result or the error is set.
	ready chan struct{}
	result
	err error
}

// batch contains results that are rendered from one decoded original.
type batch struct {
	renderings []*rendering
	// light is set for results that take little processor time.
	light bool
	// most is the maximum memory of the batch; zero when rendering has started.
	most int64
}

// maxTogether limits the results of a batch, because a batch takes one turn in the queue.
const maxTogether = 8

// patience is the waiting time after which a result is not encoded as WebP, which takes longer than JPEG or PNG.
// Otherwise requests behind it would time out.
const patience = 15 * time.Second

// plansOf returns the plans of renderings, appended to more.
func plansOf(renderings []*rendering, more ...render.Plan) []render.Plan {
	for _, r := range renderings {
		more = append(more, r.plan)
	}
	return more
}

// join returns the rendering of a plan. It reuses an existing rendering, or adds a new one to a waiting batch of the
// same queue with enough memory, or to a new batch. The caller holds the lock of the flight; batches do not start
// before it is released.
func (p *Pipeline) join(of *flight, plan render.Plan) (r *rendering, found bool) {
	var joined *batch
	light := plan.FullWeight() <= p.queues.lightRenderWeight
	for _, b := range of.batches {
		for _, r := range b.renderings {
			if r.plan == plan {
				return r, true
			}
		}
		if joined == nil && b.light == light && len(b.renderings) < maxTogether &&
			render.Weight(plansOf(b.renderings, plan)) <= b.most {
			joined = b
		}
	}
	if joined == nil {
		joined = &batch{light: light, most: p.RenderMemory()}
		of.batches = append(of.batches, joined)
		go p.makeBatch(of, joined)
	}
	r = &rendering{plan: plan, ready: make(chan struct{})}
	joined.renderings = append(joined.renderings, r)
	return r, false
}

// reserve returns the memory of a batch. Results that need more can no longer join.
func (f *flight) reserve(b *batch, least int64) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	b.most = max(render.Weight(plansOf(b.renderings)), least)
	return b.most
}

// begin starts a batch and returns its results, the smallest first. No results can join afterwards.
func (f *flight) begin(b *batch) []*rendering {
	f.mu.Lock()
	defer f.mu.Unlock()
	b.most = 0
	slices.SortFunc(b.renderings, func(a, b *rendering) int { return a.plan.Compare(b.plan) })
	return b.renderings
}

// end fails the unfinished results of a batch, and lets later requests try again.
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

// renderInBatch renders a plan together with other results of the original, and returns the result when it is ready.
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
		// The batch of another request may have been refused before this request joined it.
		if !found || again || !problem.Is(r.err, problem.Busy) {
			return r.result, r.err
		}
	}
}

// makeBatch renders a batch.
func (p *Pipeline) makeBatch(of *flight, b *batch) {
	if err := p.renderAll(of.ctx, of, b); err != nil {
		of.end(b, err)
	}
}

// renderAll renders the results of a batch when there is memory for it. After a long wait, it encodes in the format
// of the original instead of WebP.
func (p *Pipeline) renderAll(ctx context.Context, of *flight, b *batch) (err error) {
	asked := time.Now()
	queue, least := p.queues.renders, p.queues.minRenderWeight
	if b.light {
		queue, least = p.queues.lightRenders, p.queues.lightRenderWeight
	}
	release, err := queue.Acquire(ctx, of.reserve(b, least))
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
