package explain

import (
	"slices"
	"strings"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/claims"
)

// Claimants returns the Darkrooms that claim a host or have it, the oldest first.
func Claimants(all []*v1alpha1.Darkroom, host string, hostsOf func(*v1alpha1.Darkroom) []string) []*v1alpha1.Darkroom {
	var out []*v1alpha1.Darkroom
	for _, darkroom := range all {
		if slices.Contains(darkroom.Status.Domains, host) || slices.Contains(hostsOf(darkroom), host) {
			out = append(out, darkroom)
		}
	}
	slices.SortStableFunc(out, func(a, b *v1alpha1.Darkroom) int {
		if claims.Precedes(a, b) {
			return -1
		}
		return 1
	})
	return out
}

// HostsOf returns the hosts that a Darkroom claims below the base domain that the operator chose for it.
func HostsOf(darkroom *v1alpha1.Darkroom) []string {
	if darkroom.Status.BaseDomain == "" {
		return nil
	}
	hosts := make([]string, len(darkroom.Spec.SubDomains))
	for i, subDomain := range darkroom.Spec.SubDomains {
		hosts[i] = strings.ToLower(subDomain) + "." + darkroom.Status.BaseDomain
	}
	return hosts
}
