package values

import (
	"fmt"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"
)

var subDomainFormat = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?([.][a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$`)

// Host returns the host of a sub-domain.
func Host(subDomain, baseDomain string) string {
	return subDomain + "." + baseDomain
}

// hosts appends the base domain to the sub-domains. The result is sorted, because their
// order must not change the release. Refused hosts are omitted.
func (b *builder) hosts(subDomains []string, baseDomain string, refused []string) {
	path := specPath.Child("subDomains")
	hosts := make([]string, 0, len(subDomains))
	for i, subDomain := range subDomains {
		host := Host(subDomain, baseDomain)
		if len(host) > validation.DNS1123SubdomainMaxLength {
			b.invalid(path.Index(i), subDomain, fmt.Sprintf("is too long: the host %s… would have %d characters, and DNS allows %d", host[:32], len(host), validation.DNS1123SubdomainMaxLength))
		}
		hosts = append(hosts, host)
	}
	slices.Sort(hosts)
	// DNS names are plain already. Converting them would cost time in each reconcile.
	served := []any{}
	for _, host := range hosts {
		if !slices.Contains(refused, host) {
			served = append(served, host)
		}
	}
	b.set(served, "hosts")
}
