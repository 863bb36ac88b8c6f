package status

import (
	"fmt"
	"strings"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/claims"
)

// EventDomainConflict (warning): a host that the Darkroom claims belongs to an older claimant.
const EventDomainConflict = "DomainConflict"

// conflictMessage names the owner of each refused host. Darkrooms of other namespaces are
// not named, because their names could disclose something about another tenant.
func conflictMessage(namespace string, refused []claims.Refusal) string {
	sentences := make([]string, len(refused))
	for i, refusal := range refused {
		owner := "a Darkroom of another namespace"
		if refusal.Owner.Namespace == namespace {
			owner = fmt.Sprintf("Darkroom %s/%s", refusal.Owner.Namespace, refusal.Owner.Name)
		}
		switch {
		case refusal.Paused:
			sentences[i] = fmt.Sprintf("Host %s is still in use by %s, which is paused: resume it, so that it releases the host.", refusal.Host, owner)
		case refusal.Leaving:
			sentences[i] = fmt.Sprintf("Host %s is still in use by %s: waiting for it to be released.", refusal.Host, owner)
		default:
			sentences[i] = fmt.Sprintf("Host %s is already claimed by %s: remove it from subDomains of one of the two.", refusal.Host, owner)
		}
	}
	return strings.Join(sentences, " ")
}

// conflictOf returns the message of a domain conflict; empty if there is none.
func conflictOf(status v1alpha1.DarkroomStatus) string {
	condition := v1alpha1.FindCondition(status.Conditions, v1alpha1.ConditionDomainsReady)
	if condition == nil || condition.Reason != v1alpha1.ReasonDomainConflict {
		return ""
	}
	return condition.Message
}
