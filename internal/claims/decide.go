package claims

import (
	"cmp"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Refusal says why a host that a Darkroom claims is not routed to it.
type Refusal struct {
	// Host is what is refused.
	Host string
	// Owner is the Darkroom that has the host.
	Owner types.NamespacedName
	// Leaving tells that the owner is about to let go: the Darkroom has the better
	// claim, and waits until the owner's Ingress or HTTPRoute carries the host no more.
	Leaving bool
}

// claimant is a Darkroom that claims a host.
type claimant struct {
	types.NamespacedName

	// created is when the Darkroom was, or, of a carrier, its Ingress or HTTPRoute.
	created metav1.Time
}

// before tells whether a claim precedes another: the older one does, and of two of
// one age that whose name sorts first.
func (c claimant) before(other claimant) bool {
	if !c.created.Equal(&other.created) {
		return c.created.Before(&other.created)
	}
	if c.Namespace != other.Namespace {
		return c.Namespace < other.Namespace
	}
	return c.Name < other.Name
}

// carrier is a Darkroom whose live Ingress or HTTPRoute carries a host.
type carrier struct {
	claimant

	// known tells that this operator handles that Darkroom, and so will have it let
	// go of what is not its own.
	known bool
}

// view is all that the decision on one host follows from.
type view struct {
	// claimants are the Darkrooms that claim the host, those being deleted left out.
	claimants []claimant
	// carriers are those at which it is routed now.
	carriers []carrier
	// holder was given the host by this process, and is not known to have let go;
	// nil if there is none. It is ahead of the caches.
	holder *types.NamespacedName
}

// decide tells whether a Darkroom that claims a host is refused it, and by whom.
func decide(me claimant, host string, v view) (Refusal, bool) {
	owner := me
	for _, other := range v.claimants {
		if other.before(owner) {
			owner = other
		}
	}
	if owner.NamespacedName != me.NamespacedName {
		return Refusal{Host: host, Owner: owner.NamespacedName}, true
	}
	if v.holder != nil && *v.holder != me.NamespacedName {
		return Refusal{Host: host, Owner: *v.holder, Leaving: true}, true
	}
	var mine *carrier
	for i := range v.carriers {
		if v.carriers[i].NamespacedName == me.NamespacedName {
			mine = &v.carriers[i]
		}
	}
	for _, other := range v.carriers {
		switch {
		case other.NamespacedName == me.NamespacedName:
		case mine != nil && (other.known || mine.before(other.claimant)):
			// Both carry it, and it is for the other one to let go.
		default:
			return Refusal{Host: host, Owner: other.NamespacedName, Leaving: other.known}, true
		}
	}
	return Refusal{}, false
}

// compareRefusals orders refusals by host.
func compareRefusals(a, b Refusal) int { return cmp.Compare(a.Host, b.Host) }
