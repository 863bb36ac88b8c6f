package status

import (
	"fmt"
	"slices"
	"strings"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/claims"
)

// Reasons of the events about domains.
const (
	// EventDomainLost (warning): a host that was routed to the Darkroom now belongs
	// to an older claimant.
	EventDomainLost = "DomainLost"
	// EventDomainConflict (warning): a host that the Darkroom claims belongs to an
	// older claimant.
	EventDomainConflict = "DomainConflict"
	// EventDomainGained: a host that belonged to another Darkroom has been assigned
	// to this one.
	EventDomainGained = "DomainGained"
)

func refusedHosts(refused []claims.Refusal) []string {
	hosts := make([]string, len(refused))
	for i, refusal := range refused {
		hosts[i] = refusal.Host
	}
	return hosts
}

// conflictMessage names the owner of each refused host. Darkrooms of other namespaces are
// not named, because their names could disclose something about another tenant.
func conflictMessage(namespace string, refused []claims.Refusal) string {
	sentences := make([]string, len(refused))
	for i, refusal := range refused {
		owner := "a Darkroom of another namespace"
		if refusal.Owner.Namespace == namespace {
			owner = fmt.Sprintf("Darkroom %s/%s", refusal.Owner.Namespace, refusal.Owner.Name)
		}
		if refusal.Paused {
			sentences[i] = fmt.Sprintf("Host %s is still in use by %s, which is paused: resume it, so that it releases the host.", refusal.Host, owner)
			continue
		}
		if refusal.Leaving {
			sentences[i] = fmt.Sprintf("Host %s is still in use by %s: waiting for it to be released.", refusal.Host, owner)
			continue
		}
		sentences[i] = fmt.Sprintf("Host %s is already claimed by %s: remove it from subDomains of one of the two.", refusal.Host, owner)
	}
	return strings.Join(sentences, " ")
}

// domainChange is an event about a host.
type domainChange struct {
	warning         bool
	reason, message string
}

// domainChanges compares a report with the previous status, for the hosts that the Darkroom
// claims now.
func domainChanges(before, after v1alpha1.DarkroomStatus, hosts []string) []domainChange {
	conflictBefore, conflictAfter := conflictOf(before), conflictOf(after)
	if conflictBefore == conflictAfter {
		return nil
	}
	var changes []domainChange
	if conflictAfter != "" {
		reason := EventDomainConflict
		if slices.ContainsFunc(before.Domains, func(host string) bool { return mentions(conflictAfter, host) && !mentions(conflictBefore, host) }) {
			reason = EventDomainLost
		}
		changes = append(changes, domainChange{true, reason, conflictAfter})
	}
	var gained []string
	for _, host := range hosts {
		if mentions(conflictBefore, host) && !mentions(conflictAfter, host) {
			gained = append(gained, host)
		}
	}
	if len(gained) > 0 {
		changes = append(changes, domainChange{false, EventDomainGained, "Now assigned to this Darkroom: " + strings.Join(gained, ", ")})
	}
	return changes
}

// conflictOf returns the message of a domain conflict; empty if there is none.
func conflictOf(status v1alpha1.DarkroomStatus) string {
	condition := v1alpha1.FindCondition(status.Conditions, v1alpha1.ConditionDomainsReady)
	if condition == nil || condition.Reason != v1alpha1.ReasonDomainConflict {
		return ""
	}
	return condition.Message
}

// mentions reports whether the message of a conflict is about a host.
func mentions(message, host string) bool {
	return slices.Contains(strings.Fields(message), host)
}
