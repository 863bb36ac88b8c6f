package probe

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

const (
	// jitter is the maximum fraction of a period that is subtracted at random, to spread
	// out probes.
	jitter = 0.1
	// pendingPeriod is the maximum interval between probes of a Darkroom without a result.
	pendingPeriod = 5 * time.Second
)

// Result is what is reported of a Darkroom.
type Result struct {
	// Status is True if the image is served, False if failureThreshold probes failed
	// one after the other, and Unknown before.
	Status metav1.ConditionStatus
	// Outcome is the one that the status follows from; zero while it is Unknown.
	Outcome Outcome
}

// Options are the settings of a Prober.
type Options struct {
	// Probe sends one probe.
	Probe func(context.Context, types.NamespacedName, Target) Outcome
	// Concurrency is the number of probes at one time; at least 1. Targets whose last
	// probe had no answer get at most half of it, so that they do not hold up others.
	Concurrency int
	// Clock tells when probes are due; nil means the real one.
	Clock clock.Clock
	// Random returns numbers from 0 to 1 for the jitter; nil means pseudo-random ones.
	Random func() float64
}

// Prober probes Darkrooms at intervals while Start runs. Its methods are safe for
// concurrent use.
type Prober struct {
	// Changed is called with Darkrooms whose result has changed. It is set before
	// Start, or before the first target, and must not call the prober.
	Changed func([]types.NamespacedName)

	options Options
	// wake interrupts the wait for the next probe.
	wake chan struct{}

	mu      sync.Mutex
	targets map[types.NamespacedName]*entry
	// ready and stalled hold the targets that wait for their next probe: those that
	// answered last time or are new, and those that did not.
	ready, stalled queue
	// stalling is the number of probes of stalled targets under way.
	stalling int
}

// entry is a target and its history.
type entry struct {
	key    types.NamespacedName
	target Target
	// due is the time of the next probe, index the place in a queue; -1 while a probe
	// is under way.
	due   time.Time
	index int
	// stalled: the last probe had no answer, or none in time.
	stalled bool
	// cancel ends the probe under way; nil while there is none. Its outcome does not
	// count then.
	cancel context.CancelCauseFunc

	result Result
	// last is the outcome of the last probe, which took duration; probed reports
	// whether there was one.
	last     Outcome
	duration time.Duration
	probed   bool
	// failures is the number of failures since the last success, alike the number of
	// outcomes that are the same as the last one, without another between.
	failures, alike int
}

// errSuperseded is the cause of the end of a probe whose target changed meanwhile.
var errSuperseded = errors.New("the target of the probe has changed")

// New returns a prober without targets.
func New(options Options) *Prober {
	if options.Clock == nil {
		options.Clock = clock.RealClock{}
	}
	if options.Random == nil {
		options.Random = rand.Float64
	}
	options.Concurrency = max(options.Concurrency, 1)
	return &Prober{
		options: options,
		wake:    make(chan struct{}, 1),
		targets: map[types.NamespacedName]*entry{},
	}
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: only the leader probes.
func (*Prober) NeedLeaderElection() bool { return true }

// Set probes a Darkroom from now on. The same target again changes nothing; a changed
// one is probed at once, and keeps its result if path and revision are the same.
func (p *Prober) Set(key types.NamespacedName, target Target) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e, found := p.targets[key]
	switch {
	case !found:
		e = &entry{key: key, index: -1}
		e.forget()
		p.targets[key] = e
	case e.target == target:
		return
	case e.target.Path != target.Path || e.target.Revision != target.Revision:
		e.forget()
	}
	e.target = target
	p.withdraw(e)
	p.enqueue(e, p.options.Clock.Now())
}

// Remove ends the probes of a Darkroom and forgets its result.
func (p *Prober) Remove(key types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e, found := p.targets[key]; found {
		p.withdraw(e)
		delete(p.targets, key)
	}
}

// Result returns what is known of a Darkroom; Unknown if it is not probed.
func (p *Prober) Result(key types.NamespacedName) Result {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e, found := p.targets[key]; found {
		return e.result
	}
	return Result{Status: metav1.ConditionUnknown}
}

// Start probes until the context ends, and returns when no probe is under way. It
// implements manager.Runnable.
func (p *Prober) Start(ctx context.Context) error {
	var underway sync.WaitGroup
	defer underway.Wait()
	slots := make(chan struct{}, p.options.Concurrency)
	for {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		probe, wait := p.next(ctx)
		if probe != nil {
			underway.Go(func() {
				probe()
				<-slots
				p.poke()
			})
			continue
		}
		<-slots
		timer := p.options.Clock.NewTimer(wait)
		select {
		case <-timer.C():
		case <-p.wake:
		case <-ctx.Done():
			timer.Stop()
			return nil
		}
		timer.Stop()
	}
}

// next returns a probe that is due, or the time until one may be.
func (p *Prober) next(ctx context.Context) (probe func(), wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.options.Clock.Now()
	wait = time.Hour
	for _, q := range []*queue{&p.ready, &p.stalled} {
		if q.Len() == 0 || q == &p.stalled && p.stalling >= max(p.options.Concurrency/2, 1) {
			continue
		}
		if e := (*q)[0]; !e.due.After(now) {
			q.remove(e)
			return p.begin(ctx, e), 0
		}
		wait = min(wait, (*q)[0].due.Sub(now))
	}
	return nil, wait
}

// begin returns the probe of a target. The lock is held.
func (p *Prober) begin(ctx context.Context, e *entry) func() {
	ctx, cancel := context.WithCancelCause(ctx)
	e.cancel = cancel
	target, stalled := e.target, e.stalled
	if stalled {
		p.stalling++
	}
	return func() {
		defer cancel(nil)
		began := p.options.Clock.Now()
		outcome := p.options.Probe(ctx, e.key, target)
		duration := p.options.Clock.Since(began)

		p.mu.Lock()
		if stalled {
			p.stalling--
		}
		changed := false
		if ctx.Err() == nil { // else the target has changed, or the prober stops
			e.cancel = nil
			changed = e.record(outcome, duration)
			p.enqueue(e, p.options.Clock.Now().Add(p.pause(e)))
		}
		p.mu.Unlock()
		if changed && p.Changed != nil {
			p.Changed([]types.NamespacedName{e.key})
		}
	}
}

// pause is the time until the next probe.
func (p *Prober) pause(e *entry) time.Duration {
	period := e.target.Period
	if e.result.Status == metav1.ConditionUnknown {
		period = min(period, pendingPeriod)
	}
	return period - time.Duration(jitter*p.options.Random()*float64(period))
}

// enqueue has a target probed at a time. The lock is held.
func (p *Prober) enqueue(e *entry, due time.Time) {
	e.due = due
	if e.stalled {
		p.stalled.add(e)
	} else {
		p.ready.add(e)
	}
	p.poke()
}

// withdraw takes a target out of its queue, or ends its probe. The lock is held.
func (p *Prober) withdraw(e *entry) {
	switch {
	case e.cancel != nil:
		e.cancel(errSuperseded)
		e.cancel = nil
	case e.index >= 0 && e.stalled:
		p.stalled.remove(e)
	case e.index >= 0:
		p.ready.remove(e)
	}
}

func (p *Prober) poke() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// forget drops what was found of a target.
func (e *entry) forget() {
	e.result = Result{Status: metav1.ConditionUnknown}
	e.failures, e.alike = 0, 0
	e.last, e.probed = Outcome{}, false
}

// record adds an outcome to the history and reports whether the result has changed.
func (e *entry) record(outcome Outcome, duration time.Duration) (changed bool) {
	if e.probed && outcome == e.last {
		e.alike++
	} else {
		e.alike = 1
	}
	e.last, e.duration, e.probed = outcome, duration, true
	e.stalled = !outcome.Served() && outcome.StatusCode == 0
	before := e.result
	switch {
	case outcome.Served():
		e.failures = 0
		e.result = Result{metav1.ConditionTrue, outcome}
	default:
		e.failures++
		// A result that is False changes its reason only after as many failures for the new
		// one.
		count := e.failures
		if before.Status == metav1.ConditionFalse {
			count = e.alike
		}
		if count >= e.target.FailureThreshold {
			e.result = Result{metav1.ConditionFalse, outcome}
		}
	}
	return e.result != before
}
