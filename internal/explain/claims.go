package explain

import (
	"slices"
	"strings"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/claims"
)

// maxEdits is how many characters a host may differ from the one that was meant.
const maxEdits = 2

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

// Near returns the Darkrooms that have a host which resembles another, by that host.
func Near(all []*v1alpha1.Darkroom, host string) map[string]*v1alpha1.Darkroom {
	out := map[string]*v1alpha1.Darkroom{}
	for _, darkroom := range all {
		for _, domain := range darkroom.Status.Domains {
			if domain != host && resembles(domain, host) {
				out[domain] = darkroom
			}
		}
	}
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

// resembles reports whether a few edits turn one host into another.
func resembles(a, b string) bool {
	if len(a)-len(b) > maxEdits || len(b)-len(a) > maxEdits {
		return false
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal, least := row[0], i+1
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
			least = min(least, row[j+1])
		}
		if least > maxEdits {
			return false
		}
	}
	return row[len(b)] <= maxEdits
}
