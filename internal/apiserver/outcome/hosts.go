package outcome

import (
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// States of hosts.
const (
	hostFree    = "free"
	hostOwn     = "own"
	hostTaken   = "taken"
	hostUnknown = "unknown"
)

// HostOutcome is the outcome for a host.
type HostOutcome struct {
	Host  string `json:"host"`
	State string `json:"state" enum:"free,own,taken,unknown" doc:"free: no Darkroom has it. own: this Darkroom has it. taken: another Darkroom has it and keeps it. unknown: it cannot be checked who has it"`
	Owner string `json:"owner,omitempty" doc:"namespace/name of the Darkroom that has it, if the caller may get that one"`
}

// Holder is who has a host, by the Lease that decides.
type Holder struct {
	// Known is set if the Lease was looked up.
	Known bool
	// Darkroom has the host; nil if there is no Lease, and empty if the Lease is one of another program.
	Darkroom *types.NamespacedName
}

// Claimed returns the hosts that a Darkroom claims.
type Claimed func(*v1alpha1.Darkroom) []string

// Hosts returns the hosts that the Darkroom would claim. Another spec gets another choice of the base domain.
func (c *Change) Hosts(of Claimed) []string {
	changed := c.After.DeepCopy()
	if c.Before == nil || !equality.Semantic.DeepEqual(c.Before.Spec, changed.Spec) {
		changed.Status.BaseDomain = ""
	}
	return of(changed)
}

// Host returns who gets a host for a Darkroom: who has it keeps it. No owner is named: not every caller may know it.
func Host(host string, holder Holder, darkroom types.NamespacedName) HostOutcome {
	out := HostOutcome{Host: host, State: hostTaken}
	switch {
	case !holder.Known:
		out.State = hostUnknown
	case holder.Darkroom == nil:
		out.State = hostFree
	case *holder.Darkroom == darkroom:
		out.State = hostOwn
	}
	return out
}

// Warning says who else has the host, or that this is not known; empty if nobody has.
func (h HostOutcome) Warning() string {
	switch {
	case h.State == hostUnknown:
		return "it cannot be checked who has host " + h.Host
	case h.State != hostTaken:
		return ""
	case h.Owner == "":
		return "host " + h.Host + " is held by another Darkroom, which keeps it"
	}
	return "host " + h.Host + " is held by Darkroom " + h.Owner + ", which keeps it"
}
