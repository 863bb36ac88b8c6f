package values

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// routing routes the hosts by an Ingress, by an HTTPRoute if the Darkroom sets gateway, or by both if it sets both.
func (b *builder) routing(spec *v1alpha1.DarkroomSpec, options Options, allowed allowList) {
	if service := spec.Service; service != nil {
		setNonZero(b, string(service.IPFamilyPolicy), "service", "ipFamilyPolicy")
		setNonZero(b, service.TrafficDistribution, "service", "trafficDistribution")
		b.sharedAnnotations(specPath.Child("service", "annotations"), service.Annotations, allowed, "service", "annotations")
	}
	setNonZero(b, spec.NetworkPolicy != nil && spec.NetworkPolicy.Enabled, "networkPolicy", "enabled")
	if spec.Gateway != nil {
		b.gateway(spec.Gateway, allowed)
		b.set(spec.Ingress != nil, "ingress", "enabled")
		if spec.Ingress == nil {
			return
		}
	}

	ingress := spec.Ingress
	if ingress == nil {
		ingress = &v1alpha1.Ingress{}
	}
	path := specPath.Child("ingress")
	b.objectName(path.Child("className"), ingress.ClassName, "an IngressClass")
	b.objectName(path.Child("tlsSecretName"), ingress.TLSSecretName, "a Secret")
	setNonZero(b, cmp.Or(ingress.ClassName, options.IngressClassName), "ingress", "className")
	setNonZero(b, ingress.TLSSecretName, "ingress", "tlsSecretName")
	b.sharedAnnotations(path.Child("annotations"), ingress.Annotations, allowed, "ingress", "annotations")
}

func (b *builder) gateway(gateway *v1alpha1.Gateway, allowed allowList) {
	path := specPath.Child("gateway")
	for i, ref := range gateway.ParentRefs {
		b.objectName(path.Child("parentRefs").Index(i).Child("sectionName"), ref.SectionName, "a listener")
	}
	b.setPlain(gateway.ParentRefs, path.Child("parentRefs"), "gateway", "parentRefs")
	b.set(true, "gateway", "enabled")
	b.sharedAnnotations(path.Child("annotations"), gateway.Annotations, allowed, "gateway", "annotations")
	if gateway.Timeouts != nil {
		setNonZero(b, gateway.Timeouts.Request, "gateway", "timeouts", "request")
	}
}

var subDomainFormat = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?([.][a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$`)

// reserves reports whether a host is reserved, so that no Darkroom may claim it.
func (o Options) reserves(host string) bool {
	return slices.ContainsFunc(o.ReservedHosts, func(reserved string) bool {
		domain, isBelow := strings.CutPrefix(reserved, "*")
		return host == reserved || isBelow && strings.HasSuffix(host, domain)
	})
}

// hosts appends the base domain to the sub-domains and omits refused hosts. The result is sorted, so that the order in
// the spec does not change the release.
func (b *builder) hosts(darkroom *v1alpha1.Darkroom, options Options, refused []string) {
	domain, isOffered := options.baseDomainOf(darkroom)
	if !isOffered {
		b.invalid(specPath.Child("baseDomain"), darkroom.Spec.BaseDomain,
			"is not offered by the operator: choose one of "+strings.Join(options.offered(darkroom.Namespace), ", "))
		return
	}
	path, subDomains := specPath.Child("subDomains"), darkroom.Spec.SubDomains
	hosts := make([]string, 0, len(subDomains))
	for i, subDomain := range subDomains {
		host := hostOf(subDomain, domain)
		if owner, isForeign := options.foreign(host, darkroom.Namespace); isForeign {
			b.forbidden(path.Index(i), fmt.Sprintf("the host %s is reserved for the namespace %s: choose another sub-domain",
				host, owner))
		}
		if options.reserves(host) {
			b.forbidden(path.Index(i),
				fmt.Sprintf("the host %s is reserved by the administrator (--reserved-hosts): choose another sub-domain", host))
		}
		if len(host) > validation.DNS1123SubdomainMaxLength {
			b.invalid(path.Index(i), subDomain,
				fmt.Sprintf("is too long: the host %s… would have %d characters, but DNS allows %d", host[:32], len(host),
					validation.DNS1123SubdomainMaxLength))
		}
		hosts = append(hosts, host)
	}
	slices.Sort(hosts)
	// Host names need no conversion to plain types, which would cost time in each reconcile.
	served := []any{}
	for _, host := range hosts {
		if !slices.Contains(refused, host) {
			served = append(served, host)
		}
	}
	b.set(served, "hosts")
}
