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
	Wake func([]types.NamespacedName)

	mu sync.Mutex
	// held maps each assigned host to its Darkroom.
	held map[string]types.NamespacedName
	// by maps each Darkroom in held to its hosts.
	by map[types.NamespacedName][]string
}

// Judgement is the decision on the claims of a Darkroom at the start of a reconcile.
type Judgement struct {
	// Refusals are the hosts that must not be routed to it, ordered by host.
	Refusals []Refusal

	darkroom types.NamespacedName
	// given are the hosts that are newly assigned to it.
	given []string
	// withdrawn are the hosts that were assigned to it before, and that it must release.
	withdrawn []string
}

// RefusedHosts are the hosts of the refusals.
func (j *Judgement) RefusedHosts() []string {
	hosts := make([]string, len(j.Refusals))
	for i, refusal := range j.Refusals {
		hosts[i] = refusal.Host
	}
	return hosts
}

// Judge assigns a Darkroom the hosts that belong to it, and refuses the others. Call Commit
// at the end of the reconcile, or Undo if nothing was written.
func (l *Ledger) Judge(ctx context.Context, darkroom *v1alpha1.Darkroom) (*Judgement, error) {
	me := claimantOf(darkroom)
	views, err := l.views(ctx, darkroom)
	if err != nil {
		return nil, fmt.Errorf("judge claims of Darkroom %s: %w", me.NamespacedName, err)
	}
	judgement := &Judgement{darkroom: me.NamespacedName}
	// Only one at a time, so that a host is assigned once.
	l.mu.Lock()
	defer l.mu.Unlock()
	var given []string
	for _, v := range views {
		if refusal, refused := l.decide(me, v); refused {
			judgement.Refusals = append(judgement.Refusals, refusal)
			continue
		}
		given = append(given, v.host)
		if _, isHeld := l.held[v.host]; !isHeld {
			l.give(me.NamespacedName, v.host)
			judgement.given = append(judgement.given, v.host)
		}
	}
	for _, host := range l.by[me.NamespacedName] {
		if !slices.Contains(given, host) {
			judgement.withdrawn = append(judgement.withdrawn, host)
		}
	}
	return judgement, nil
}

// Refusals returns the hosts that a Darkroom claims and that belong to others, or still do.
func (l *Ledger) Refusals(ctx context.Context, darkroom *v1alpha1.Darkroom) ([]Refusal, error) {
	refusals, err := l.refusals(ctx, darkroom)
	if err != nil {
		return nil, fmt.Errorf("look for refused hosts of Darkroom %s: %w", keyOf(darkroom), err)
	}
	for i := range refusals {
		owner := &v1alpha1.Darkroom{}
		if refusals[i].Leaving && l.Reader.Get(ctx, refusals[i].Owner, owner, client.UnsafeDisableDeepCopy) == nil {
			refusals[i].Paused = v1alpha1.IsPaused(owner)
		}
	}
	return refusals, nil
}

func (l *Ledger) refusals(ctx context.Context, darkroom *v1alpha1.Darkroom) ([]Refusal, error) {
	views, err := l.views(ctx, darkroom)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var refusals []Refusal
	for _, v := range views {
		if refusal, refused := l.decide(claimantOf(darkroom), v); refused {
			refusals = append(refusals, refusal)
		}
	}
	return refusals, nil
}

// decide decides on a host with its holder. The caller holds the lock.
func (l *Ledger) decide(me claimant, v view) (Refusal, bool) {
	if holder, isHeld := l.held[v.host]; isHeld {
		v.holder = &holder
	}
	return decide(me, v)
}

// Undo reverts the assignments of a judgement on a Darkroom that turned out to be invalid,
// so that none of its objects were written.
func (l *Ledger) Undo(judgement *Judgement) {
	l.mu.Lock()
	l.drop(judgement.darkroom, judgement.given)
	l.mu.Unlock()
}

// Commit releases the hosts that a judgement withdrew, at the end of the reconcile. After a
// failed reconcile it asks the API server whether they are still routed.
func (l *Ledger) Commit(ctx context.Context, judgement *Judgement, failed bool) error {
	if judgement == nil || len(judgement.withdrawn) == 0 {
		return nil
	}
	return l.free(ctx, judgement.darkroom, judgement.withdrawn, failed)
}

// Forget releases all hosts of a Darkroom that is gone. If it is not uninstalled yet, only
// hosts that are no longer routed are released.
func (l *Ledger) Forget(ctx context.Context, darkroom types.NamespacedName, failed bool) error {
	l.mu.Lock()
	hosts := slices.Clone(l.by[darkroom])
	l.mu.Unlock()
	if len(hosts) == 0 {
		return nil
	}
	return l.free(ctx, darkroom, hosts, failed)
}

func (l *Ledger) free(ctx context.Context, darkroom types.NamespacedName, hosts []string, failed bool) error {
	if failed {
		routed, err := l.routed(ctx, darkroom)
		if err != nil {
			return fmt.Errorf("list the routes of Darkroom %s: %w", darkroom, err)
		}
		hosts = slices.DeleteFunc(slices.Clone(hosts), func(host string) bool { return slices.Contains(routed, host) })
	}
	l.mu.Lock()
	l.drop(darkroom, hosts)
	l.mu.Unlock()
	others, err := l.others(ctx, darkroom, hosts)
	if len(others) > 0 && l.Wake != nil {
		l.Wake(others)
	}
	return err
}

// routed returns the hosts that are routed to a Darkroom according to the API server.
func (l *Ledger) routed(ctx context.Context, darkroom types.NamespacedName) ([]string, error) {
	var hosts []string
	var errs []error
	for _, object := range l.Carriers() {
		switch err := l.Live.Get(ctx, darkroom, object); {
		case err == nil:
			hosts = append(hosts, l.Hosts(object)...)
		case client.IgnoreNotFound(err) != nil:
			errs = append(errs, err)
		}
	}
	return hosts, errors.Join(errs...)
}

// give and drop keep held and by consistent. The caller holds the lock.
func (l *Ledger) give(darkroom types.NamespacedName, host string) {
	if l.held == nil {
		l.held, l.by = map[string]types.NamespacedName{}, map[types.NamespacedName][]string{}
	}
	l.held[host] = darkroom
	l.by[darkroom] = append(l.by[darkroom], host)
}

func (l *Ledger) drop(darkroom types.NamespacedName, hosts []string) {
	for _, host := range hosts {
		if l.held[host] != darkroom {
			continue
		}
		delete(l.held, host)
		l.by[darkroom] = slices.DeleteFunc(l.by[darkroom], func(held string) bool { return held == host })
	}
	if len(l.by[darkroom]) == 0 {
		delete(l.by, darkroom)
	}
}
