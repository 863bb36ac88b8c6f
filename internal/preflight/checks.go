package preflight

import (
	"context"
	"slices"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/internal/probe"
)

const (
	// StartTimeout is the time in which a pod must become ready. It leaves time to pull an
	// image.
	StartTimeout = 2 * time.Minute
	// The time before a change that failed is checked again doubles from retryLeast to
	// retryMost.
	retryLeast = 30 * time.Second
	retryMost  = 10 * time.Minute
)

// State is the progress of a check.
type State int

const (
	// Waiting means that the limit of concurrent checks is reached.
	Waiting State = iota
	// Running means that the pod starts, or its image is being requested.
	Running
	// Served means that the pod served the image: the change may be applied.
	Served
	// Failed means that it did not: the change is checked again at the time Verdict.Retry.
	Failed
)

// Verdict is what is known of a change.
type Verdict struct {
	State State
	// Reason and Message explain why the check failed, and are kept while it is repeated;
	// empty if it has not failed.
	Reason, Message string
	// Retry is when a check that failed is repeated; zero otherwise.
	Retry time.Time
}

// Change is a change that is to be checked.
type Change struct {
	// ID identifies the change among those of one Darkroom.
	ID string
	// Target is the image that the pod must serve.
	Target probe.Target
	// Start creates the Deployment, or finds the one that an earlier operator created, and
	// returns its identity. It is called at most once for each check.
	Start func(context.Context) (Identity, error)
	// Remove deletes the Deployment. It is called after each Start that succeeded.
	Remove func(context.Context) error
}

// Identity tells a Deployment from a later one of its name.
type Identity struct {
	types.NamespacedName
	UID types.UID
}

// Options are the settings of Checks.
type Options struct {
	// Deployment reads a Deployment from a cache.
	Deployment func(context.Context, types.NamespacedName) (*appsv1.Deployment, error)
	// Pods reads pods past the caches.
	Pods client.Reader
	// Probe requests the image of a target from one pod.
	Probe func(context.Context, *corev1.Pod, probe.Target) probe.Outcome
	// Limit is the number of pods at one time; at least 1.
	Limit int
	// Clock measures waits.
	Clock clock.Clock
}

// Checks are the checks of all Darkrooms, at most one of each. They are safe for concurrent
// use.
type Checks struct {
	// Changed is called with Darkrooms whose verdict has changed, or whose turn has come. It
	// is set before the first check, and must not call Checks.
	Changed func([]types.NamespacedName)

	options Options
	// lifetime ends with the operator.
	lifetime context.Context

	mu      sync.Mutex
	checks  map[types.NamespacedName]*check
	waiting []types.NamespacedName
	running int
}

// check is the check of one change.
type check struct {
	id       string
	verdict  Verdict
	failures int
	// cancel ends the check; nil unless it runs.
	cancel context.CancelFunc
}

// New returns checks that end with a context.
func New(lifetime context.Context, options Options) *Checks {
	options.Limit = max(options.Limit, 1)
	return &Checks{options: options, lifetime: lifetime, checks: map[types.NamespacedName]*check{}}
}

// Verdict returns what is known of the change of a Darkroom that was checked last; found is
// false if no change is.
func (c *Checks) Verdict(key types.NamespacedName) (verdict Verdict, found bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.checks[key]; known != nil {
		return known.verdict, true
	}
	return Verdict{}, false
}

// Known is Verdict of one change; found is also false if it is time to check it (again).
func (c *Checks) Known(key types.NamespacedName, id string) (verdict Verdict, found bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.checks[key]
	if known == nil || known.id != id || c.isDue(key, known) {
		return Verdict{}, false
	}
	return known.verdict, true
}

// isDue reports whether a check can begin. The lock is held.
func (c *Checks) isDue(key types.NamespacedName, known *check) bool {
	switch known.verdict.State {
	case Waiting:
		turn := slices.Index(c.waiting, key)
		return turn < c.options.Limit-c.running
	case Failed:
		return !c.options.Clock.Now().Before(known.verdict.Retry)
	case Running, Served:
	}
	return false
}

// Check begins to check a change, unless that is under way or done, and returns what is
// known. A change that differs from the one before takes its place.
func (c *Checks) Check(key types.NamespacedName, change Change) Verdict {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.checks[key]
	if known == nil || known.id != change.ID {
		c.drop(key)
		known = &check{id: change.ID}
		c.checks[key] = known
	} else if known.verdict.State != Waiting && !c.isDue(key, known) {
		return known.verdict
	}
	if !slices.Contains(c.waiting, key) {
		c.waiting = append(c.waiting, key)
	}
	known.verdict.State, known.verdict.Retry = Waiting, time.Time{}
	if c.isDue(key, known) {
		c.begin(key, known, change)
	}
	return known.verdict
}

// Forget ends the check of a Darkroom, and forgets its verdict.
func (c *Checks) Forget(key types.NamespacedName) {
	c.mu.Lock()
	_, found := c.checks[key]
	c.drop(key)
	turns := c.turns()
	c.mu.Unlock()
	if found {
		c.wake(turns)
	}
}

// drop forgets a check. The lock is held.
func (c *Checks) drop(key types.NamespacedName) {
	if known := c.checks[key]; known != nil && known.cancel != nil {
		known.cancel()
	}
	delete(c.checks, key)
	c.waiting = slices.DeleteFunc(c.waiting, func(waiting types.NamespacedName) bool { return waiting == key })
}

// turns returns the Darkrooms whose turn has come. The lock is held.
func (c *Checks) turns() []types.NamespacedName {
	return slices.Clone(c.waiting[:min(len(c.waiting), max(c.options.Limit-c.running, 0))])
}

func (c *Checks) wake(keys []types.NamespacedName) {
	if len(keys) > 0 && c.Changed != nil {
		c.Changed(keys)
	}
}

// begin runs a check. The lock is held.
func (c *Checks) begin(key types.NamespacedName, known *check, change Change) {
	c.waiting = slices.DeleteFunc(c.waiting, func(waiting types.NamespacedName) bool { return waiting == key })
	c.running++
	known.verdict.State = Running
	ctx, cancel := context.WithCancel(c.lifetime)
	known.cancel = cancel
	go func() {
		defer cancel()
		outcome := c.run(ctx, change)
		c.mu.Lock()
		c.running--
		changed := c.turns()
		if ctx.Err() == nil { // else the check was dropped
			known.conclude(outcome, c.options.Clock.Now())
			changed = append(changed, key)
		}
		c.mu.Unlock()
		c.wake(changed)
	}()
}

// conclude turns the outcome of a check into a verdict.
func (k *check) conclude(outcome probe.Outcome, now time.Time) {
	k.cancel = nil
	if outcome.Served() {
		k.verdict = Verdict{State: Served}
		return
	}
	pause := min(retryLeast<<min(k.failures, 10), retryMost)
	k.failures++
	k.verdict = Verdict{State: Failed, Reason: outcome.Reason, Message: outcome.Message, Retry: now.Add(pause)}
}
