package status

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/gateway"
	"github.com/darkroom-operator/darkroom-operator/internal/hosts"
	"github.com/darkroom-operator/darkroom-operator/internal/redact"
)

// servedHosts returns the sorted hosts of the live Ingress, and of the HTTPRoute once a Gateway has accepted it. A host
// counts only if it is or was assigned to the Darkroom. Otherwise others could add a host to the route, and the
// Darkroom would then own the host, because hosts.RestoreAll relies on the status.
func servedHosts(o Observation) []string {
	hosts := slices.Clone(gateway.Hosts(o.Ingress))
	if accepted, _ := gateway.AcceptedBy(o.Route); len(accepted) > 0 {
		hosts = append(hosts, gateway.Hosts(o.Route)...)
	}
	hosts = slices.DeleteFunc(hosts, func(host string) bool {
		wasAssigned := slices.Contains(o.Darkroom.Status.Domains, host)
		return !wasAssigned && (o.isRefused(host) || !slices.Contains(o.Hosts, host))
	})
	slices.Sort(hosts)
	return slices.Compact(hosts)
}

// missingHosts returns the hosts assigned to the Darkroom that its Ingress or HTTPRoute lacks.
func missingHosts(o Observation) []string {
	spec := &o.Darkroom.Spec
	inIngress, inRoute := gateway.Hosts(o.Ingress), gateway.Hosts(o.Route)
	return slices.DeleteFunc(slices.Clone(o.Hosts), func(host string) bool {
		return o.isRefused(host) ||
			(!wantsIngress(spec) || slices.Contains(inIngress, host)) && (spec.Gateway == nil || slices.Contains(inRoute, host))
	})
}

func (o Observation) isRefused(host string) bool {
	return slices.ContainsFunc(o.Refused, func(refusal hosts.Refusal) bool { return refusal.Host == host })
}

// determineDomains returns the condition DomainsReady for the hosts at which images are served. An Ingress has no
// acceptance status, so its rules, class, certificates and address are checked. The current generation of an HTTPRoute
// must have been accepted by every Gateway in spec.gateway.parentRefs.
func determineDomains(o Observation, hosts []string) v1alpha1.Condition {
	spec := &o.Darkroom.Spec
	condition := v1alpha1.Condition{
		Type:   v1alpha1.ConditionDomainsReady,
		Status: metav1.ConditionFalse,
		Reason: v1alpha1.ReasonNotRouted,
	}
	missing := missingHosts(o)
	attachment, finding := attachmentOf(o.Darkroom, o.Route)
	switch {
	case len(o.Hosts) == 0:
		condition.Message = "spec.subDomains is empty."
	case attachment == gateway.Refused:
		condition.Reason, condition.Message = v1alpha1.ReasonRouteRefused, finding
	case len(o.Refused) > 0:
		condition.Reason, condition.Message = v1alpha1.ReasonDomainConflict, conflictMessage(o.Darkroom.Namespace, o.Refused)
	case len(missing) > 0:
		condition.Message = "Not routed yet: " + strings.Join(missing, ", ") + "."
	case attachment == gateway.Unresolved:
		condition.Reason, condition.Message = v1alpha1.ReasonRouteUnresolved, finding
	case wantsIngress(spec) && o.MissingClass:
		condition.Reason = v1alpha1.ReasonIngressClassMissing
		condition.Message = fmt.Sprintf("IngressClass %s does not exist, so no controller serves the Ingress. Set ingress.className "+
			"to a class listed by kubectl get ingressclasses.", *o.Ingress.Spec.IngressClassName)
	case wantsIngress(spec) && len(o.MissingCertificates) > 0:
		condition.Reason = v1alpha1.ReasonCertificateMissing
		condition.Message = fmt.Sprintf("Secret %s with the certificate of the Ingress does not exist in namespace %s.",
			strings.Join(o.MissingCertificates, ", "), o.Darkroom.Namespace)
	case attachment == gateway.Awaiting:
		condition.Status = metav1.ConditionUnknown
		condition.Reason, condition.Message = v1alpha1.ReasonAwaitingGateway, finding
	case wantsIngress(spec) && len(o.Ingress.Status.LoadBalancer.Ingress) == 0:
		condition.Status = metav1.ConditionUnknown
		condition.Reason = v1alpha1.ReasonAwaitingAddress
		condition.Message = "The Ingress routes " + strings.Join(hosts, ", ") + ", but no ingress controller has published an " +
			"address for it. Check that a controller serves its class. Some controllers never publish an address."
	default:
		condition.Status = metav1.ConditionTrue
		condition.Reason = v1alpha1.ReasonRouted
		condition.Message = "Routed: " + strings.Join(hosts, ", ") + "."
	}
	return condition
}

// wantsIngress reports whether a Darkroom with this spec has an Ingress.
func wantsIngress(spec *v1alpha1.DarkroomSpec) bool {
	return spec.Gateway == nil || spec.Ingress != nil
}

// Published describes the public URLs of the hosts if they cannot be derived from the Ingress or HTTPRoute: behind a
// load balancer that terminates TLS, or at another port.
type Published struct {
	// Scheme is http or https. Empty means https for a host with a certificate.
	Scheme string
	// Port is the public port; 0 means the default port of the scheme.
	Port int
}

// Validate returns an error for an invalid scheme or port.
func (p Published) Validate() error {
	if p.Scheme != "" && p.Scheme != "http" && p.Scheme != "https" {
		return fmt.Errorf("scheme %q: must be http or https", p.Scheme)
	}
	if p.Port < 0 || p.Port > 65535 {
		return fmt.Errorf("port %d: must be between 1 and 65535; 0 means the default port of the scheme", p.Port)
	}
	return nil
}

// urlOf returns the URL of the first host; empty if there is none.
func urlOf(hosts []string, o Observation) string {
	if len(hosts) == 0 {
		return ""
	}
	out := url.URL{Scheme: o.Published.Scheme, Host: hosts[0]}
	if out.Scheme == "" {
		out.Scheme = "http"
		if hasCertificate(o, hosts[0]) ||
			slices.Contains(gateway.Hosts(o.Route), hosts[0]) && attachedSecurely(o.Route) {
			out.Scheme = "https"
		}
	}
	if port := o.Published.Port; port != 0 && port != defaultPorts[out.Scheme] {
		out.Host = net.JoinHostPort(out.Host, strconv.Itoa(port))
	}
	return out.String()
}

var defaultPorts = map[string]int{"http": 80, "https": 443}

// hasCertificate reports whether the Ingress has a TLS section for a host whose Secret, if any, exists. Without a
// Secret, the ingress controller uses its default certificate.
func hasCertificate(o Observation, host string) bool {
	return o.Ingress != nil && slices.Contains(gateway.Hosts(o.Ingress), host) &&
		slices.ContainsFunc(o.Ingress.Spec.TLS, func(tls networkingv1.IngressTLS) bool {
			return (len(tls.Hosts) == 0 || slices.Contains(tls.Hosts, host)) &&
				!slices.Contains(o.MissingCertificates, tls.SecretName)
		})
}

// attachmentOf returns the worst acceptance of the route by the Gateways in the spec, and a message. The cached route
// may still reference earlier Gateways, which do not count.
func attachmentOf(darkroom *v1alpha1.Darkroom, route *gatewayv1.HTTPRoute) (worst gateway.Acceptance, message string) {
	if darkroom.Spec.Gateway == nil {
		return worst, ""
	}
	for _, ref := range darkroom.Spec.Gateway.ParentRefs {
		parent := gateway.Parent{
			Kind:      cmp.Or(ref.Kind, gateway.KindGateway),
			Namespace: cmp.Or(ref.Namespace, darkroom.Namespace), Name: ref.Name, Section: ref.SectionName,
		}
		acceptance, said := gateway.AcceptanceBy(route, parent)
		if acceptance <= worst {
			continue
		}
		worst = acceptance
		switch acceptance {
		case gateway.Awaiting:
			message = fmt.Sprintf("%s has not accepted the HTTPRoute yet: check that the %s exists, that its controller is running, "+
				"and that its listeners allow routes from namespace %s.", parent, parent.Kind, darkroom.Namespace)
		case gateway.Unresolved:
			message = sentence(fmt.Sprintf("%s cannot resolve a reference of the HTTPRoute: %s", parent,
				redact.Quote(darkroom, cause(said))))
		case gateway.Refused:
			message = sentence(fmt.Sprintf("%s does not accept the HTTPRoute: %s", parent, redact.Quote(darkroom, cause(said))))
		}
	}
	return worst, message
}

func cause(said *metav1.Condition) string {
	return strings.TrimSuffix(said.Reason+": "+said.Message, ": ")
}

// attachedSecurely reports whether a route is attached to a listener that serves HTTPS. The operator does not read
// Gateways, so it relies on the name of the listener: https, https-… or …-https.
func attachedSecurely(route *gatewayv1.HTTPRoute) bool {
	const secure = "https"
	accepted, _ := gateway.AcceptedBy(route)
	return slices.ContainsFunc(accepted, func(by gateway.Parent) bool {
		return by.Section == secure || strings.HasPrefix(by.Section, secure+"-") || strings.HasSuffix(by.Section, "-"+secure)
	})
}

// EventDomainConflict (warning): another Darkroom holds a host that the Darkroom wants.
const EventDomainConflict = "DomainConflict"

// conflictMessage names the holder of each refused host. Holders in other namespaces are not named, because their names
// could disclose information about other tenants.
func conflictMessage(namespace string, refused []hosts.Refusal) string {
	sentences := make([]string, len(refused))
	for i, refusal := range refused {
		by := "a Darkroom in another namespace: choose another sub-domain, or ask an administrator for the holder"
		if refusal.Holder.Namespace == namespace {
			by = fmt.Sprintf("Darkroom %s: remove it from subDomains of one of the two", refusal.Holder)
		}
		sentences[i] = fmt.Sprintf("Host %s is already claimed by %s.", refusal.Host, by)
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
