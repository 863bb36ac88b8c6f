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

// HostOutcome reports whether a Darkroom would get a host.
type HostOutcome struct {
	Host  string `json:"host"`
	State string `json:"state" enum:"free,own,taken,unknown" doc:"free: no Darkroom has it. own: this Darkroom has it. taken: another Darkroom has it and keeps it. unknown: the Lease cannot be read"`
	Owner string `json:"owner,omitempty" doc:"namespace/name of the Darkroom that holds it, if the caller may get that Darkroom"`
}

// Holder is the holder of the Lease of a host.
type Holder struct {
	// Known is set if the Lease was looked up.
	Known bool
	// Darkroom is the holder; nil without a Lease, and empty if the Lease belongs to another program.
	Darkroom *types.NamespacedName
}

// Claimed returns the hosts that a Darkroom claims.
type Claimed func(*v1alpha1.Darkroom) []string

// Hosts returns the hosts that the Darkroom would claim. A change of the spec also applies the current default base
// domain.
func (c *Change) Hosts(of Claimed) []string {
	changed := c.After.DeepCopy()
	if c.Before == nil || !equality.Semantic.DeepEqual(c.Before.Spec, changed.Spec) {
		changed.Status.BaseDomain = ""
	}
	return of(changed)
}

// Host returns the outcome for a host. The holder keeps the host. The owner is not set, because the caller may lack
// permission to see it.
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

// Warning describes a host that is taken or unknown; empty if it is free.
func (h HostOutcome) Warning() string {
	switch {
	case h.State == hostUnknown:
		return "cannot determine which Darkroom holds host " + h.Host
	case h.State != hostTaken:
		return ""
	case h.Owner == "":
		return "host " + h.Host + " is held by another Darkroom, which keeps it"
	}
	return "host " + h.Host + " is held by Darkroom " + h.Owner + ", which keeps it"
}
