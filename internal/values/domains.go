package values

import (
	"cmp"
	"slices"
	"strings"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// placeholder is replaced by the namespace of the Darkroom in a base domain.
const placeholder = "{namespace}"

func inNamespace(domain, namespace string) string {
	return strings.ReplaceAll(domain, placeholder, namespace)
}

func hostOf(subDomain, domain string) string { return subDomain + "." + domain }

// offered returns the base domains for Darkrooms in a namespace; the first is the default.
func (o Options) offered(namespace string) []string {
	domains := make([]string, len(o.BaseDomains))
	for i, domain := range o.BaseDomains {
		domains[i] = inNamespace(domain, namespace)
	}
	return domains
}

// baseDomainOf returns the base domain of a Darkroom, and whether the operator offers it. Existing hosts keep their
// base domain until the spec changes, even if the options change. If another installation takes over the Darkroom, it
// chooses again, because claims are per installation.
func (o Options) baseDomainOf(darkroom *v1alpha1.Darkroom) (domain string, isOffered bool) {
	offered, kept := o.offered(darkroom.Namespace), keptBaseDomain(darkroom)
	if darkroom.Spec.BaseDomain == "" {
		return cmp.Or(kept, offered[0]), true
	}
	wanted := inNamespace(darkroom.Spec.BaseDomain, darkroom.Namespace)
	return wanted, wanted == kept || slices.Contains(offered, wanted)
}

// keptBaseDomain returns the base domain that was chosen for the current spec; empty if none was.
func keptBaseDomain(darkroom *v1alpha1.Darkroom) string {
	status := &darkroom.Status
	if status.ObservedGeneration != darkroom.Generation || status.Installation != v1alpha1.HandledBy(darkroom) {
		return ""
	}
	return status.BaseDomain
}

// foreign returns the namespace that owns a host, if it is another namespace. If the operator offers
// "{namespace}.<domain>", hosts below "<namespace>.<domain>" are reserved for Darkrooms in that namespace.
func (o Options) foreign(host, namespace string) (owner string, isForeign bool) {
	for _, offered := range o.BaseDomains {
		domain, divided := strings.CutPrefix(offered, placeholder)
		below, isBelow := strings.CutSuffix(host, domain)
		at := strings.LastIndex(below, ".")
		if divided && isBelow && at > 0 && below[at+1:] != namespace {
			return below[at+1:], true
		}
	}
	return "", false
}

// BaseDomain returns the base domain of a Darkroom; empty if the Darkroom names a domain that is not offered.
func (t *Translator) BaseDomain(darkroom *v1alpha1.Darkroom) string {
	domain, isOffered := t.options.baseDomainOf(darkroom)
	if !isOffered {
		return ""
	}
	return domain
}

// Hosts returns the hosts that a Darkroom claims. It omits hosts reserved for other namespaces, and returns none if the
// base domain is not offered.
func (t *Translator) Hosts(darkroom *v1alpha1.Darkroom) []string {
	domain := t.BaseDomain(darkroom)
	if domain == "" {
		return nil
	}
	hosts := make([]string, 0, len(darkroom.Spec.SubDomains))
	for _, subDomain := range darkroom.Spec.SubDomains {
		host := hostOf(subDomain, domain)
		if _, isForeign := t.options.foreign(host, darkroom.Namespace); !isForeign {
			hosts = append(hosts, host)
		}
	}
	return hosts
}
