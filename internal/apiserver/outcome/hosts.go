package outcome

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// States of hosts.
const (
	hostFree  = "free"
	hostOwn   = "own"
	hostTaken = "taken"
)

// HostOutcome is the outcome for a host.
type HostOutcome struct {
	Host  string `json:"host"`
	State string `json:"state" enum:"free,own,taken" doc:"free: no other Darkroom has it. own: this Darkroom has it. taken: another Darkroom has it and keeps it"`
	Owner string `json:"owner,omitempty" doc:"namespace/name of the Darkroom that has it, if the caller may get that one"`
}

// Claimed returns the hosts that a Darkroom claims.
type Claimed func(*v1alpha1.Darkroom) []string

// Hosts decides who gets each host of a change, if the cluster has these Darkrooms. No owner is named: keepers has the
// Darkrooms that keep hosts which are taken, for callers who may get them.
func (c *Change) Hosts(
	all []*v1alpha1.Darkroom, of Claimed,
) (hosts []HostOutcome, keepers map[string]*v1alpha1.Darkroom) {
	wanted, had := c.claims(of)
	rivals := c.rivals(wanted, all)
	hosts, keepers = []HostOutcome{}, map[string]*v1alpha1.Darkroom{}
	for _, host := range wanted {
		entry := HostOutcome{Host: host, State: hostState(rivals[host], slices.Contains(had, host))}
		if entry.State == hostTaken {
			keepers[host] = rivals[host]
		}
		hosts = append(hosts, entry)
	}
	return hosts, keepers
}

// claims returns the hosts that the Darkroom would claim, and those that it claims. Another spec gets another choice of
// the base domain.
func (c *Change) claims(of Claimed) (wanted, before []string) {
	changed := c.Wanted.DeepCopy()
	if c.Before == nil || !equality.Semantic.DeepEqual(c.Before.Spec, changed.Spec) {
		changed.Status.BaseDomain = ""
	}
	if c.Before != nil {
		before = of(c.Before)
	}
	return of(changed), before
}

// rivals returns the other Darkroom that has each of the hosts, by its status.
func (c *Change) rivals(hosts []string, all []*v1alpha1.Darkroom) map[string]*v1alpha1.Darkroom {
	asked := sets.New(hosts...)
	out := map[string]*v1alpha1.Darkroom{}
	for _, other := range all {
		itself := other.Namespace == c.Wanted.Namespace && other.Name == c.Wanted.Name
		if itself || other.DeletionTimestamp != nil || !sameInstallation(other, c.Wanted) {
			continue
		}
		for _, host := range other.Status.Domains {
			if asked.Has(host) {
				out[host] = other
			}
		}
	}
	return out
}

// sameInstallation reports whether one operator may handle two Darkrooms. Others have other hosts.
func sameInstallation(a, b *v1alpha1.Darkroom) bool {
	of, other := v1alpha1.HandledBy(a), v1alpha1.HandledBy(b)
	return of == "" || other == "" || of == other
}

// hostState decides who gets a host: who has it keeps it.
func hostState(rival *v1alpha1.Darkroom, had bool) string {
	switch {
	case rival != nil:
		return hostTaken
	case had:
		return hostOwn
	}
	return hostFree
}
