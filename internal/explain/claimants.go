package explain

import (
	"cmp"
	"slices"
	"strings"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// Claimants returns the Darkrooms that hold or want a host, holders first, each group ordered by name.
func Claimants(all []*v1alpha1.Darkroom, host string, hostsOf func(*v1alpha1.Darkroom) []string) []*v1alpha1.Darkroom {
	var holders, others []*v1alpha1.Darkroom
	for _, darkroom := range all {
		switch {
		case slices.Contains(darkroom.Status.Domains, host):
			holders = append(holders, darkroom)
		case slices.Contains(hostsOf(darkroom), host):
			others = append(others, darkroom)
		}
	}
	byName := func(a, b *v1alpha1.Darkroom) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	}
	slices.SortFunc(holders, byName)
	slices.SortFunc(others, byName)
	return append(holders, others...)
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
