package pipeline

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/darkroom-operator/darkroom-operator/gate/render"
	"github.com/darkroom-operator/darkroom-operator/gate/request"
	"github.com/darkroom-operator/darkroom-operator/gate/source"
)

// made is the result of a transformation. It is late if it should have been WebP, and is not.
type made struct {
	body []byte
	late bool
}

// batch is what is made of an original after one decoding.
type batch struct {
	plans []render.Plan
	// most is the memory that results which join may need.
	most int64
	done map[render.Plan]rendered
}

type rendered struct {
	made
	err error
}

// maxTogether bounds the results of a batch, which has one turn.
const maxTogether = 8

// patience is the time after which WebP is not encoded any more, which takes longer than JPEG or PNG: who waits
// behind it would be refused.
const patience = 15 * time.Second

// wishes are the requests that wait for originals.
type wishes struct {
	mu sync.Mutex
	of map[source.Request][]wish
}

type wish struct {
	request.Request
	// known is the version of the original of which the result is known.
	known string
}

// add adds a request for an original until remove is called.
func (w *wishes) add(asked source.Request, r wish) (remove func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.of == nil {
		w.of = map[source.Request][]wish{}
	}
	w.of[asked] = append(w.of[asked], r)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		at := slices.Index(w.of[asked], r)
		if w.of[asked] = slices.Delete(w.of[asked], at, at+1); len(w.of[asked]) == 0 {
			delete(w.of, asked)
		}
	}
}

// gather lets the results that wait for an original be made together.
func (p *Pipeline) gather(of *held, asked source.Request) {
	if of.info.Format == "" {
		return
	}
	p.wishes.mu.Lock()
	waiting := slices.Clone(p.wishes.of[asked])
	p.wishes.mu.Unlock()
	for _, r := range waiting {
		t := p.Rules.Resolve(r.Transform, of.info.Size)
		if r.known == of.Original || t == (request.Transform{}) || p.Rules.Check(t, of.info.Size, p.MaxSourcePixels) != nil {
			continue
		}
		if plan, ok := p.planned(of.info, t, r.WebP); ok {
			of.join(plan, p.Memory/5)
		}
	}
}

// join returns the batch of a result: the batch that has it, one that waits and has the memory for it, or a new one.
func (h *held) join(plan render.Plan, most int64) *batch {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, b := range h.batches {
		if slices.Contains(b.plans, plan) {
			return b
		}
	}
	for _, b := range h.batches {
		if len(b.plans) < maxTogether && render.Weight(append(slices.Clone(b.plans), plan)) <= b.most {
			b.plans = append(b.plans, plan)
			return b
		}
	}
	b := &batch{plans: []render.Plan{plan}, most: most}
	h.batches = append(h.batches, b)
	return b
}

// reserve returns the memory for a batch. Results that need more cannot join it any more.
func (h *held) reserve(b *batch, least int64) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	b.most = max(render.Weight(b.plans), least)
	return b.most
}

// begin returns the results of a batch, which no other ones can join any more, and those that are done.
func (h *held) begin(b *batch) ([]render.Plan, map[render.Plan]rendered) {
	h.mu.Lock()
	defer h.mu.Unlock()
	b.most = 0
	return b.plans, b.done
}

// render does what is planned for an original, with the results that wait for it too.
func (p *Pipeline) render(ctx context.Context, of *held, plan render.Plan) (made, error) {
	b := of.join(plan, p.Memory/5)
	results, _, done, err := hold(ctx, &p.batches, b, func(ctx context.Context) (map[render.Plan]rendered, error) {
		return p.renderAll(ctx, of, b)
	})
	defer done()
	if err != nil {
		return made{}, err
	}
	return results[plan].made, results[plan].err
}

// renderAll makes the results of a batch when there is the memory for it, or those that are quicker to make than WebP
// if it is too late.
func (p *Pipeline) renderAll(ctx context.Context, of *held, b *batch) (map[render.Plan]rendered, error) {
	asked := time.Now()
	release, err := p.queues.renders.Acquire(ctx, of.reserve(b, p.queues.lightestRender))
	if err != nil {
		return nil, err
	}
	defer release(0)
	plans, done := of.begin(b)
	if done != nil {
		return done, nil
	}
	done, err = p.makeAll(ctx, of.body, plans, time.Since(asked) > patience)
	if err == nil {
		of.mu.Lock()
		b.done = done // for those that come later
		of.mu.Unlock()
	}
	return done, err
}

func (p *Pipeline) makeAll(
	ctx context.Context, body []byte, plans []render.Plan, late bool,
) (done map[render.Plan]rendered, err error) {
	defer recovered(&err)
	defer func(start time.Time) {
		p.metrics.renders.WithLabelValues(outcome(err)).Observe(time.Since(start).Seconds())
	}(time.Now())
	pixels, unreadable := render.Decode(ctx, body, plans)
	done = map[render.Plan]rendered{}
	for _, plan := range plans {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		one := rendered{made: made{late: late && plan.IsWebP()}, err: unreadable}
		if unreadable == nil {
			one.body, one.err = makeOne(ctx, body, pixels, plan, one.late)
		}
		done[plan] = one
	}
	return done, nil
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
