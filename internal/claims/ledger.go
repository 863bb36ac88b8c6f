package claims

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// Ledger gives hosts to Darkrooms that are about to be reconciled. It remembers
// what it gave away until that is known to be given back, because the caches show
// a write only a moment later. The memory is lost with the process; the next one
// starts with caches that were read anew.
type Ledger struct {
	Cache
	// Live reads past the caches.
	Live client.Reader
	// Wake has Darkrooms looked at because a host became free.
	Wake func([]types.NamespacedName)

	mu sync.Mutex
	// held has the Darkroom that each host was given to.
	held map[string]types.NamespacedName
	// by has the hosts of each Darkroom in held.
	by map[types.NamespacedName][]string
}

// Judgement is what a Darkroom was told at the start of a reconcile.
type Judgement struct {
	// Refusals are the hosts that it must not route, ordered.
	Refusals []Refusal

	darkroom types.NamespacedName
	// given are the hosts that it was given now and had not before.
	given []string
	// withdrawn are those that it was given before, and has to let go of.
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

// Judge gives a Darkroom the hosts that are its own, and refuses it the others.
// What comes of it is told by Settle, or by Undo if nothing was written.
func (l *Ledger) Judge(ctx context.Context, darkroom *v1alpha1.Darkroom) (*Judgement, error) {
	me := claimantOf(darkroom)
	judgement := &Judgement{darkroom: me.NamespacedName}
	// One at a time: what two Darkrooms see of one host must not change in between.
	l.mu.Lock()
	defer l.mu.Unlock()
	var given []string
	for _, host := range l.Hosts(darkroom) {
		v, err := l.viewOf(ctx, me.NamespacedName, host)
		if err != nil {
			l.drop(me.NamespacedName, judgement.given)
			return nil, fmt.Errorf("judge claims of Darkroom %s: %w", me.NamespacedName, err)
		}
		holder, isHeld := l.held[host]
		if isHeld {
			v.holder = &holder
		}
		if refusal, refused := decide(me, host, v); refused {
			judgement.Refusals = append(judgement.Refusals, refusal)
			continue
		}
		given = append(given, host)
		if !isHeld {
			l.give(me.NamespacedName, host)
			judgement.given = append(judgement.given, host)
		}
	}
	for _, host := range l.by[me.NamespacedName] {
		if !slices.Contains(given, host) {
			judgement.withdrawn = append(judgement.withdrawn, host)
		}
	}
	slices.SortFunc(judgement.Refusals, compareRefusals)
	return judgement, nil
}

// Undo takes back what a judgement gave to a Darkroom that turned out to be
// invalid: nothing was written of it.
func (l *Ledger) Undo(judgement *Judgement) {
	l.mu.Lock()
	l.drop(judgement.darkroom, judgement.given)
	l.mu.Unlock()
}

// Settle frees the hosts that a judgement withdrew, now that the reconcile has
// ended. After one that failed, the API server is asked whether they still are routed.
func (l *Ledger) Settle(ctx context.Context, judgement *Judgement, failed bool) error {
	if judgement == nil || len(judgement.withdrawn) == 0 {
		return nil
	}
	return l.free(ctx, judgement.darkroom, judgement.withdrawn, failed)
}

// Forget frees all hosts of a Darkroom that is gone, or, where it could not be
// uninstalled yet, those that are routed no more.
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
			return fmt.Errorf("look at what is routed to Darkroom %s: %w", darkroom, err)
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

// routed returns the hosts at which a Darkroom is routed, past the caches.
func (l *Ledger) routed(ctx context.Context, darkroom types.NamespacedName) ([]string, error) {
	objects := []client.Object{&networkingv1.Ingress{}}
	if l.hasRoutes() {
		objects = append(objects, &gatewayv1.HTTPRoute{})
	}
	var hosts []string
	var errs []error
	for _, object := range objects {
		switch err := l.Live.Get(ctx, darkroom, object); {
		case err == nil:
			hosts = append(hosts, l.Hosts(object)...)
		case client.IgnoreNotFound(err) != nil:
			errs = append(errs, err)
		}
	}
	return hosts, errors.Join(errs...)
}

// give and drop keep held and by alike. The caller holds the lock.
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
