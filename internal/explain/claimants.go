package explain

import (
	"cmp"
	"slices"
	"strings"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// Claimants returns the Darkrooms that serve or want a host, ordered by name. The Lease decides which of them holds it.
func Claimants(all []*v1alpha1.Darkroom, host string, hostsOf func(*v1alpha1.Darkroom) []string) []*v1alpha1.Darkroom {
	var claimants []*v1alpha1.Darkroom
	for _, darkroom := range all {
		if slices.Contains(darkroom.Status.Domains, host) || slices.Contains(hostsOf(darkroom), host) {
			claimants = append(claimants, darkroom)
		}
	}
	slices.SortFunc(claimants, func(a, b *v1alpha1.Darkroom) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return claimants
}

// HostsOf returns the hosts of a Darkroom according to the base domain in its status.
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
