package probe

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// jitter is the maximum random fraction by which a period is shortened, to spread probes.
	jitter = 0.1
	// pendingPeriod is the maximum interval between probes of a Darkroom without a result.
	pendingPeriod = 5 * time.Second
)

// Result is the state of a Darkroom's probes.
type Result struct {
	// Status is True if the image is served, False after failureThreshold consecutive failures, and Unknown before
	// that.
	Status metav1.ConditionStatus
	// Outcome is the outcome that led to Status; zero while Status is Unknown.
	Outcome Outcome
}

// Options are the settings of a Prober.
type Options struct {
	// Probe sends one probe.
	Probe func(context.Context, types.NamespacedName, Target) Outcome
	// Concurrency is the number of concurrent probes; at least 1. Targets that did not respond to their last probe may
	// use at most half of these slots, so that they do not delay others.
	Concurrency int
	// Random returns numbers in [0, 1) for the jitter; nil means pseudo-random numbers.
	Random func() float64
}

// Prober probes Darkrooms at intervals while Start is running. It is safe for concurrent use.
type Prober struct {
	// Changed is called with Darkrooms whose result has changed. It must be set before Start or before the first
	// target, and must not call the prober.
	Changed func(...types.NamespacedName)

	options Options
	// slots limits concurrent probes, and unanswered limits the ones whose target did not respond last time.
	slots, unanswered *semaphore.Weighted
	underway          sync.WaitGroup

	mu      sync.Mutex
	targets map[types.NamespacedName]*entry
	// ctx is the context of Start; nil before.
	ctx context.Context //nolint:containedctx // needed by probes that start later
}

// Sample is the last probe of a Darkroom, for metrics.
type Sample struct {
	// Served reports whether the image was served.
	Served bool
	// Duration is the duration of the probe.
	Duration time.Duration
}

// entry is a target and its history.
type entry struct {
	key    types.NamespacedName
	target Target
	// stop cancels the wait for the next probe, or the running probe, whose outcome is then ignored.
	stop context.CancelFunc

	result Result
	// last is the outcome of the last probe; nil if there was none. duration is its duration.
	last     *Outcome
	duration time.Duration
	// failures is the number of failures since the last success, and alike is the number of consecutive equal outcomes.
	failures, alike int
}

// New returns a prober without targets.
func New(options Options) *Prober {
	if options.Random == nil {
		options.Random = rand.Float64
	}
	concurrency := int64(max(options.Concurrency, 1))
	return &Prober{
		options:    options,
		slots:      semaphore.NewWeighted(concurrency),
		unanswered: semaphore.NewWeighted(max(concurrency/2, 1)),
		targets:    map[types.NamespacedName]*entry{},
	}
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: only the leader probes.
func (*Prober) NeedLeaderElection() bool { return true }

// Set starts to probe a Darkroom. Setting the same target again has no effect. A changed target is probed at once, and
// keeps its result if path and revision are unchanged.
func (p *Prober) Set(key types.NamespacedName, target Target) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e, found := p.targets[key]
	switch {
	case !found:
		e = &entry{key: key, stop: func() {}}
		e.forget()
		p.targets[key] = e
	case e.target == target:
		return
	case e.target.Path != target.Path || e.target.Revision != target.Revision:
		e.forget()
	}
	e.target = target
	p.schedule(e, 0)
}

// Remove stops the probes of a Darkroom and drops its result.
func (p *Prober) Remove(key types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e, found := p.targets[key]; found {
		e.stop()
		delete(p.targets, key)
	}
}

// Result returns the result for a Darkroom; Unknown if it is not probed.
func (p *Prober) Result(key types.NamespacedName) Result {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e, found := p.targets[key]; found {
		return e.result
	}
	return Result{Status: metav1.ConditionUnknown}
}

// Last returns the last probe of a Darkroom, and false if there was none. Only the leader probes.
func (p *Prober) Last(key types.NamespacedName) (Sample, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e, found := p.targets[key]
	if !found || e.last == nil {
		return Sample{}, false
	}
	return Sample{Served: e.last.Served(), Duration: e.duration}, true
}

// Start runs probes until the context ends, and returns when no probe is running. It implements manager.Runnable.
func (p *Prober) Start(ctx context.Context) error {
	p.mu.Lock()
	p.ctx = ctx
	for _, e := range p.targets {
		p.schedule(e, 0) //nolint:contextcheck // Start uses p.ctx
	}
	p.mu.Unlock()
	<-ctx.Done()
	p.mu.Lock() // no probe starts after this
	for _, e := range p.targets {
		e.stop()
	}
	p.mu.Unlock()
	p.underway.Wait()
	return nil
}

// schedule schedules the next probe of a target and cancels its previous schedule. The caller must hold the lock.
func (p *Prober) schedule(e *entry, after time.Duration) {
	e.stop()
	if p.ctx == nil {
		return // Start follows
	}
	ctx, cancel := context.WithCancel(p.ctx)
	timer := time.AfterFunc(after, func() { p.probe(ctx, e) })
	e.stop = func() {
		timer.Stop()
		cancel()
	}
}

// probe probes a target once and schedules the next probe, unless the context has ended because the target has changed
// or the prober stops.
func (p *Prober) probe(ctx context.Context, e *entry) {
	p.mu.Lock()
	if ctx.Err() != nil {
		p.mu.Unlock()
		return
	}
	p.underway.Add(1)
	defer p.underway.Done()
	target, isAnswered := e.target, e.last == nil || e.last.StatusCode != 0
	p.mu.Unlock()

	if !isAnswered {
		if p.unanswered.Acquire(ctx, 1) != nil {
			return
		}
		defer p.unanswered.Release(1)
	}
	if p.slots.Acquire(ctx, 1) != nil {
		return
	}
	defer p.slots.Release(1)
	began := time.Now()
	outcome := p.options.Probe(ctx, e.key, target)

	p.mu.Lock()
	isChanged := false
	if ctx.Err() == nil {
		isChanged = e.record(outcome, time.Since(began))
		p.schedule(e, p.pause(e)) //nolint:contextcheck // the next probe has its own context
	}
	p.mu.Unlock()
	if isChanged && p.Changed != nil {
		p.Changed(e.key)
	}
}

// pause returns the time until the next probe.
func (p *Prober) pause(e *entry) time.Duration {
	period := e.target.Period
	if e.result.Status == metav1.ConditionUnknown {
		period = min(period, pendingPeriod)
	}
	return period - time.Duration(jitter*p.options.Random()*float64(period))
}

// forget drops the history of a target.
func (e *entry) forget() {
	e.result = Result{Status: metav1.ConditionUnknown}
	e.failures, e.alike = 0, 0
	e.last = nil
}

// record adds an outcome to the history and reports whether the result has changed.
func (e *entry) record(outcome Outcome, duration time.Duration) (changed bool) {
	if e.last == nil || outcome != *e.last {
		e.alike = 0
	}
	e.alike++
	e.last, e.duration = &outcome, duration
	before := e.result
	if outcome.Served() {
		e.failures = 0
		e.result = Result{metav1.ConditionTrue, outcome}
		return e.result != before
	}
	e.failures++
	// A result that is False changes its reason only after enough failures with the new reason.
	count := e.failures
	if before.Status == metav1.ConditionFalse {
		count = e.alike
	}
	if count >= e.target.FailureThreshold {
		e.result = Result{metav1.ConditionFalse, outcome}
	}
	return e.result != before
}
