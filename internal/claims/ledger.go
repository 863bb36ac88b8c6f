package claims

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// Ledger assigns hosts to Darkrooms before they are reconciled. It records each assignment
// until the host is released, because the caches lag behind the operator's writes. A new
// process starts with an empty ledger and fresh caches.
type Ledger struct {
	Cache
	// Wake enqueues Darkrooms because a host became free.
	Wake func(...types.NamespacedName)

	mu sync.Mutex
	// held maps each assigned host to its Darkroom.
	held map[string]types.NamespacedName
	// by maps each Darkroom in held to its hosts.
	by map[types.NamespacedName][]string
	// judged are the Darkrooms that were reconciled in this process, and whose routes it therefore
	// knows. An earlier process may have assigned hosts to the others without a trace in the status.
	judged map[types.NamespacedName]bool
}

// Judgement is the decision on the claims of a Darkroom at the start of a reconcile.
type Judgement struct {
	// Given are the hosts that are assigned to it.
	Given []string
	// Refused are the hosts that must not be routed to it, and Refusals the reasons.
	Refused  []string
	Refusals []Refusal
	// hidden is set if one is refused that is routed to another Darkroom, which the caches do not show.
	hidden bool
}

// Judge assigns a Darkroom the hosts that belong to it, and refuses the others. Call Commit
// at the end of the reconcile.
func (l *Ledger) Judge(ctx context.Context, darkroom *v1alpha1.Darkroom) (*Judgement, error) {
	if err := l.recall(ctx, darkroom); err != nil {
		return nil, fmt.Errorf("list the routes of Darkroom %s: %w", client.ObjectKeyFromObject(darkroom), err)
	}
	return l.judge(ctx, darkroom, l.give)
}

// recall records, before the first judgement on a Darkroom, the hosts that an earlier process has assigned to
// it and that are routed to it, whether it still claims them or not.
func (l *Ledger) recall(ctx context.Context, darkroom *v1alpha1.Darkroom) error {
	key := client.ObjectKeyFromObject(darkroom)
	l.mu.Lock()
	known := l.judged[key]
	l.mu.Unlock()
	if known {
		return nil
	}
	routed, err := l.routed(ctx, l.Reader, key)
	isHidden := func(host string) bool { return !slices.Contains(routed, host) }
	if err == nil && slices.ContainsFunc(darkroom.Status.Domains, isHidden) {
		routed, err = l.routed(ctx, l.Live, key) // see hidden
	}
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, host := range routed {
		if wasAssigned(darkroom, host) {
			l.give(key, host)
		}
	}
	return nil
}

// judge decides on the claims of a Darkroom, and passes each host that it may have to give.
func (l *Ledger) judge(
	ctx context.Context, darkroom *v1alpha1.Darkroom, give func(types.NamespacedName, string),
) (*Judgement, error) {
	me := claimantOf(darkroom)
	views, err := l.views(ctx, darkroom)
	if err != nil {
		return nil, fmt.Errorf("judge claims of Darkroom %s: %w", me.NamespacedName, err)
	}
	judgement := &Judgement{}
	// Only one at a time, so that a host is assigned once.
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, v := range views {
		if holder, isHeld := l.held[v.host]; isHeld {
			v.holder = &holder
		}
		v.carriers = slices.DeleteFunc(v.carriers, l.isForged)
		if refusal, refused := decide(me, v); refused {
			judgement.Refused, judgement.Refusals = append(judgement.Refused, v.host), append(judgement.Refusals, refusal)
			judgement.hidden = judgement.hidden || v.hidden
			continue
		}
		judgement.Given = append(judgement.Given, v.host)
		give(me.NamespacedName, v.host)
	}
	return judgement, nil
}

// isForged reports whether no operator assigned the host of a carrier to it: a user wrote it into its
// route. The caller holds the lock.
func (l *Ledger) isForged(c carrier) bool {
	mayBeOfAnEarlierProcess := c.known && !c.paused && !l.judged[c.NamespacedName]
	return !c.assigned && !mayBeOfAnEarlierProcess
}

// Refusals returns the hosts that a Darkroom claims and that belong to others, or still do.
func (l *Ledger) Refusals(ctx context.Context, darkroom *v1alpha1.Darkroom) ([]Refusal, error) {
	judgement, err := l.judge(ctx, darkroom, func(types.NamespacedName, string) {})
	if err != nil {
		return nil, err
	}
	for i := range judgement.Refusals {
		refusal, owner := &judgement.Refusals[i], &v1alpha1.Darkroom{}
		if refusal.Leaving && l.Darkrooms.Get(ctx, refusal.Owner, owner, client.UnsafeDisableDeepCopy) == nil {
			refusal.Paused = v1alpha1.IsPaused(owner)
		}
	}
	return judgement.Refusals, nil
}

// Commit releases the hosts that a judgement withdrew, at the end of the reconcile, unless the API server has a route
// with them: the reconcile failed, or a load balancer has a finalizer on a route that was deleted and still serves it.
// Without a judgement the Darkroom is paused, or its claims could not be judged.
func (l *Ledger) Commit(ctx context.Context, darkroom types.NamespacedName, judgement *Judgement) error {
	if judgement == nil {
		return l.release(ctx, darkroom, nil)
	}
	return errors.Join(l.release(ctx, darkroom, judgement.Given), l.know(ctx, darkroom))
}

// MustAsk reports whether a host of a Darkroom can become free without an event, so that it has to be asked for: one
// that a judgement refused because of a route that the caches do not show, or one that the Darkroom still had at the
// end of its reconcile, that no judgement gave it, and that the caches do not show as routed to it.
func (l *Ledger) MustAsk(ctx context.Context, darkroom types.NamespacedName, judgement *Judgement) bool {
	l.mu.Lock()
	held := slices.Clone(l.by[darkroom])
	l.mu.Unlock()
	if judgement != nil {
		if judgement.hidden {
			return true
		}
		held = without(held, judgement.Given)
	}
	if len(held) == 0 {
		return false
	}
	shown, err := l.routed(ctx, l.Reader, darkroom)
	return err != nil || len(without(held, shown)) > 0
}

// without returns the hosts that are not among others.
func without(hosts, others []string) []string {
	return slices.DeleteFunc(hosts, func(host string) bool { return slices.Contains(others, host) })
}

// know records that a Darkroom was reconciled. At the first time it wakes the Darkrooms that claim hosts
// of its routes: they may have waited for it.
func (l *Ledger) know(ctx context.Context, darkroom types.NamespacedName) error {
	l.mu.Lock()
	known := l.judged[darkroom]
	if l.judged == nil {
		l.judged = map[types.NamespacedName]bool{}
	}
	l.judged[darkroom] = true
	l.mu.Unlock()
	if known {
		return nil
	}
	hosts, err := l.routed(ctx, l.Reader, darkroom)
	if err != nil {
		return err
	}
	return l.wake(ctx, darkroom, hosts)
}

// Leave is Forget for a Darkroom that is being deleted. An earlier process may have assigned its hosts.
func (l *Ledger) Leave(ctx context.Context, darkroom *v1alpha1.Darkroom) error {
	return errors.Join(l.recall(ctx, darkroom), l.Forget(ctx, client.ObjectKeyFromObject(darkroom)))
}

// Forget releases the hosts of a Darkroom that is gone, or that this operator does not handle, unless they are still
// routed to it: its route may have the finalizer of a load balancer, or be left to Kubernetes.
func (l *Ledger) Forget(ctx context.Context, darkroom types.NamespacedName) error {
	l.mu.Lock()
	delete(l.judged, darkroom)
	l.mu.Unlock()
	return l.release(ctx, darkroom, nil)
}

// release releases the hosts of a Darkroom, except those that it keeps, and those that the API server
// shows as routed to it.
func (l *Ledger) release(ctx context.Context, darkroom types.NamespacedName, keeps []string) error {
	l.mu.Lock()
	hosts := without(slices.Clone(l.by[darkroom]), keeps)
	l.mu.Unlock()
	if len(hosts) == 0 {
		return nil
	}
	routed, err := l.routed(ctx, l.Live, darkroom)
	if err != nil {
		return fmt.Errorf("list the routes of Darkroom %s: %w", darkroom, err)
	}
	hosts = without(hosts, routed)
	l.mu.Lock()
	l.drop(darkroom, hosts)
	l.mu.Unlock()
	return l.wake(ctx, darkroom, hosts)
}

// wake enqueues the other Darkrooms that claim hosts.
func (l *Ledger) wake(ctx context.Context, darkroom types.NamespacedName, hosts []string) error {
	others, err := l.others(ctx, darkroom, hosts)
	if len(others) > 0 && l.Wake != nil {
		l.Wake(others...)
	}
	return err
}

// give and drop keep held and by consistent. The caller holds the lock.
func (l *Ledger) give(darkroom types.NamespacedName, host string) {
	if l.held == nil {
		l.held, l.by = map[string]types.NamespacedName{}, map[types.NamespacedName][]string{}
	}
	if _, isHeld := l.held[host]; !isHeld {
		l.held[host] = darkroom
		l.by[darkroom] = append(l.by[darkroom], host)
	}
}

func (l *Ledger) drop(darkroom types.NamespacedName, hosts []string) {
	for _, host := range hosts {
		delete(l.held, host)
	}
	l.by[darkroom] = slices.DeleteFunc(l.by[darkroom], func(held string) bool { return slices.Contains(hosts, held) })
	if len(l.by[darkroom]) == 0 {
		delete(l.by, darkroom)
	}
}
