// Package outcome predicts the effects of a change of a Darkroom: who holds its hosts, which Secrets it needs, and
// whether its pods are replaced. It sends no requests.
package outcome

import "github.com/darkroom-operator/darkroom-operator/api/v1alpha1"

// Outcome contains the effects of a valid change.
type Outcome struct {
	Hosts   []HostOutcome   `json:"hosts" doc:"Each host, in the order of subDomains"`
	Secrets []SecretOutcome `json:"secrets" doc:"Secrets that the Darkroom refers to, as far as the caller may read them"`
	Pods    string          `json:"pods" enum:"create,keep,roll,unknown" doc:"create: there are none yet. keep: the pod template does not change. roll: it changes, and the pods are replaced. unknown: write-only values were sent, and may differ from the stored ones"`
}

// Change is a reviewed or stored change to a Darkroom. It may contain secrets.
type Change struct {
	// Before is the Darkroom before the change; nil when creating.
	Before *v1alpha1.Darkroom
	// After is the Darkroom with the change.
	After *v1alpha1.Darkroom
	// NewSecrets is set if write-only values were sent. They may differ from the stored ones.
	NewSecrets bool
}
