// Package claims decides which Darkroom a host belongs to: the oldest Darkroom that claims
// it, in all namespaces that the operator watches.
//
// The decision on one host is a pure function (decide.go) of the caches (index.go) and of
// the assignments by this process (ledger.go). A host changes hands in two steps: first the
// loser removes it from its Ingress and HTTPRoute, then the winner gets it. No host is ever
// routed to two Darkrooms.
package claims

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// Refusal is the reason why a host that a Darkroom claims is not routed to it.
type Refusal struct {
	// Host is the refused host.
	Host string
	// Owner is the Darkroom that has the host.
	Owner types.NamespacedName
	// Leaving is set if the Darkroom has the better claim and waits until the owner's
	// Ingress and HTTPRoute no longer have the host.
	Leaving bool
	// Paused is set if the owner is leaving and paused, so that it does not release the host.
	Paused bool
}

// claimant is a Darkroom that claims a host.
type claimant struct {
	types.NamespacedName

	// created is the creation time of the Darkroom, which users cannot set. That of a route would
	// prove nothing, because a route can be made early and get the host later.
	created metav1.Time
}

// before reports whether a claim precedes another: the older claim does. Claims of the same
// age are ordered by namespace and name.
func (c claimant) before(other claimant) bool {
	if !c.created.Equal(&other.created) {
		return c.created.Before(&other.created)
	}
	if c.Namespace != other.Namespace {
		return c.Namespace < other.Namespace
	}
	return c.Name < other.Name
}

// carrier is a Darkroom whose live Ingress or HTTPRoute has a host.
type carrier struct {
	claimant

	// known is set if this installation handles the Darkroom, and will therefore remove hosts
	// that are not its own.
	known bool
	// assigned is set if the status shows that an operator assigned the host to it, and paused if it
	// is paused.
	assigned, paused bool
}

// view is the input of the decision on one host.
type view struct {
	host string
	// claimants are the Darkrooms that claim the host, except those that are being deleted.
	claimants []claimant
	// carriers are the other Darkrooms that the host is routed to now, and routed is set if it is
	// routed to the Darkroom itself.
	carriers []carrier
	routed   bool
	// hidden is set if the caches do not show a route of one of the carriers.
	hidden bool
	// holder is the Darkroom that this process assigned the host to and that may still have
	// it; nil if there is none. It is more recent than the caches.
	holder *types.NamespacedName
}

// decide returns the refusal of a host that a Darkroom claims, if another Darkroom owns it.
func decide(me claimant, v view) (Refusal, bool) {
	owner := me
	for _, other := range v.claimants {
		if other.before(owner) {
			owner = other
		}
	}
	if owner.NamespacedName != me.NamespacedName {
		return Refusal{Host: v.host, Owner: owner.NamespacedName}, true
	}
	if v.holder != nil && *v.holder != me.NamespacedName {
		return Refusal{Host: v.host, Owner: *v.holder, Leaving: true}, true
	}
	// What this process has assigned to it is routed to it, or will be in a moment.
	routed := v.routed || v.holder != nil
	for _, other := range v.carriers {
		if routed && (other.known || me.before(other.claimant)) {
			continue // both have it, and the other one must release it
		}
		return Refusal{Host: v.host, Owner: other.NamespacedName, Leaving: other.known}, true
	}
	return Refusal{}, false
}

// Refused returns the hosts of each Darkroom that belong to an older one, once every host has changed hands.
func Refused(
	darkrooms []*v1alpha1.Darkroom, hosts func(*v1alpha1.Darkroom) []string,
) map[types.NamespacedName][]string {
	claimants := map[string][]claimant{}
	for _, darkroom := range darkrooms {
		for _, host := range hosts(darkroom) {
			claimants[host] = append(claimants[host], claimantOf(darkroom))
		}
	}
	refused := map[types.NamespacedName][]string{}
	for _, darkroom := range darkrooms {
		me := claimantOf(darkroom)
		for _, host := range hosts(darkroom) {
			if _, isRefused := decide(me, view{host: host, claimants: claimants[host]}); isRefused {
				refused[me.NamespacedName] = append(refused[me.NamespacedName], host)
			}
		}
	}
	return refused
}
