package explain

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/advice"
	"github.com/darkroom-operator/darkroom-operator/internal/gateway"
)

// finding is the state of a hop, and the remedy if the hop failed.
type finding struct {
	Hop

	remedy, field string
}

func (f finding) failed(detail, remedy, field string) finding {
	f.State, f.Detail, f.remedy, f.field = Failed, detail, remedy, field
	return f
}

func (f finding) ok(format string, args ...any) finding {
	f.State, f.Detail = OK, fmt.Sprintf(format, args...)
	return f
}

func (f finding) unknown(detail, remedy string) finding {
	f.State, f.Detail, f.remedy = Unknown, detail, remedy
	return f
}

func hop(kind Kind, name string) finding { return finding{Hop: Hop{Kind: kind, Name: name}} }

// Subject returns the Darkroom that a URL is about: the holder of the host, or else the first Darkroom that wants it;
// nil if there is none.
func (e *Evidence) Subject() *v1alpha1.Darkroom {
	for _, is := range []func(*v1alpha1.Darkroom) bool{e.isHolder, e.isRouted} {
		if at := slices.IndexFunc(e.Claimants, is); at >= 0 {
			return e.Claimants[at]
		}
	}
	if len(e.Claimants) > 0 {
		return e.Claimants[0]
	}
	return nil
}

// isHolder reports whether a Darkroom holds the host according to the Lease, or to the routes if the Lease is unknown.
func (e *Evidence) isHolder(darkroom *v1alpha1.Darkroom) bool {
	if e.HolderKnown {
		return client.ObjectKeyFromObject(darkroom) == e.Holder
	}
	return e.isRouted(darkroom)
}

// isRouted reports whether the host is routed to a Darkroom according to its status, which users cannot write.
func (e *Evidence) isRouted(darkroom *v1alpha1.Darkroom) bool {
	return slices.Contains(darkroom.Status.Domains, e.URL.Host)
}

// Decide returns the explanation that follows from evidence. The first failed hop is to blame.
func Decide(e *Evidence) *Explanation {
	out := &Explanation{URL: e.URL.String(), Hops: []Hop{}}
	subject := e.Subject()
	findings := []finding{e.host(subject)}
	if subject != nil {
		out.Darkroom = &Subject{Namespace: subject.Namespace, Name: subject.Name}
		findings = append(findings, e.routes(subject)...)
		findings = append(findings, e.service(subject))
		findings = append(findings, e.inside(subject)...)
	}
	findings = e.front(findings)
	for _, found := range findings {
		out.Hops = append(out.Hops, found.Hop)
		if found.State == Failed && out.Blame == "" {
			out.Blame, out.Verdict, out.Remedy, out.Field = found.Kind, found.Name+": "+found.Detail, found.remedy, found.field
		}
	}
	if out.Blame == "" {
		out.Verdict, out.Remedy = e.acquittal(subject, findings)
	}
	return out
}

// acquittal returns the verdict if no hop failed.
func (e *Evidence) acquittal(subject *v1alpha1.Darkroom, findings []finding) (verdict, remedy string) {
	verdict = fmt.Sprintf("Darkroom %s/%s serves this image", subject.Namespace, subject.Name)
	remedy = "If a client gets something else, look at the components in front of the cluster: DNS, the load " +
		"balancer, a CDN and its cache"
	isServed := e.Answer.Failure == "" && e.Answer.Status == http.StatusOK
	for _, found := range findings {
		switch {
		case found.State != Unknown:
		case isServed && found.Kind == Route:
			remedy = "If a client gets something else: " + found.remedy
		case !isServed && found.Kind != Route:
			return "the image was not requested: " + found.Detail, found.remedy
		}
	}
	if lag, _ := e.lag(subject); lag != "" {
		verdict, remedy = verdict+"; "+lag, remedyOf(subject, v1alpha1.ConditionReady)
	}
	return verdict, remedy
}

// host determines who holds the host.
func (e *Evidence) host(subject *v1alpha1.Darkroom) finding {
	out := hop(Host, e.URL.Host)
	if subject == nil {
		return e.stranger(out)
	}
	var refused []string
	for _, other := range e.Claimants {
		if other != subject && !e.isHolder(other) {
			refused = append(refused, nameOf(other))
		}
	}
	also := ""
	if len(refused) > 0 {
		also = "; also claimed by " + strings.Join(refused, ", ") + ", without effect, because the first claim counts"
	}
	switch {
	case subject.DeletionTimestamp != nil:
		return out.failed(nameOf(subject)+", which has the host, is being deleted"+also,
			remedyOf(subject, v1alpha1.ReasonTerminating), "")
	case e.isHolder(subject):
		return out.ok("%s has the host%s", nameOf(subject), also)
	}
	domains := v1alpha1.FindCondition(subject.Status.Conditions, v1alpha1.ConditionDomainsReady)
	isHandled := domains != nil && domains.ObservedGeneration == subject.Generation
	switch {
	case !isHandled && e.HolderKnown && e.Holder != (types.NamespacedName{}):
		return out.failed(nameOf(subject)+" claims the host, but another Darkroom holds it"+also,
			remedyOf(subject, v1alpha1.ReasonDomainConflict), "subDomains")
	case !isHandled:
		return out.failed(nameOf(subject)+" claims the host, but the operator has not handled this yet"+also,
			"Check the status with: kubectl darkroom status "+subject.Name+" -n "+subject.Namespace, "")
	}
	return out.failed(fmt.Sprintf("%s claims the host but does not hold it: %s%s", nameOf(subject),
		trimmed(domains.Message), also),
		remedyOf(subject, domains.Reason), "subDomains")
}

// stranger explains a host that no Darkroom visible to the caller claims.
func (e *Evidence) stranger(out finding) finding {
	detail := "no Darkroom that you may see has this host"
	remedy := "Check the host and the cluster: status.domains of each Darkroom lists its hosts"
	for _, domain := range e.BaseDomains {
		below, isBelow := strings.CutSuffix(e.URL.Host, "."+strings.TrimPrefix(domain, "{namespace}."))
		if isBelow {
			detail += fmt.Sprintf(", which is below the base domain %s", domain)
			remedy = fmt.Sprintf("Check the spelling of %q, or add it to subDomains of the Darkroom that has the image", below)
			break
		}
	}
	return out.failed(detail, remedy, "")
}

// routes examines the objects that route the host to the Service.
func (e *Evidence) routes(subject *v1alpha1.Darkroom) []finding {
	var out []finding
	if subject.Spec.Gateway == nil || subject.Spec.Ingress != nil {
		found := e.route(subject, e.Ingress.Access, "Ingress", "", &e.Ingress.Object)
		if found.State == "" {
			found = ofIngress(found, subject, &e.Ingress.Object)
		}
		out = append(out, found)
	}
	if subject.Spec.Gateway != nil {
		found := e.route(subject, e.HTTPRoute.Access, "HTTPRoute", "gateway", &e.HTTPRoute.Object)
		if found.State == "" {
			found = ofHTTPRoute(found, subject, &e.HTTPRoute.Object)
		}
		out = append(out, found)
	}
	return out
}

// route determines whether a route has the host. If it has, the kind-specific functions examine its state.
func (e *Evidence) route(subject *v1alpha1.Darkroom, access Access, kind, field string, route client.Object) finding {
	out := hop(Route, kind+" "+subject.Name)
	switch {
	case access == Unread:
		if e.isRouted(subject) {
			return out.ok("routes the host, according to the operator")
		}
		return out.unknown("you may not read it", "Ask for permission to get the "+kind)
	case access == Missing || !metav1.IsControlledBy(route, subject):
		return out.failed("it does not exist", remedyOf(subject, v1alpha1.ConditionReady), field)
	case !slices.Contains(gateway.Hosts(route), e.URL.Host):
		return out.failed("it has no rule for the host", remedyOf(subject, v1alpha1.ConditionDomainsReady), "subDomains")
	}
	return out
}

// ofIngress reports the problems of an Ingress that the operator found.
func ofIngress(out finding, subject *v1alpha1.Darkroom, ingress *networkingv1.Ingress) finding {
	domains := v1alpha1.FindCondition(subject.Status.Conditions, v1alpha1.ConditionDomainsReady)
	if domains != nil && domains.ObservedGeneration == subject.Generation {
		field := map[string]string{
			v1alpha1.ReasonIngressClassMissing: "ingress.className",
			v1alpha1.ReasonCertificateMissing:  "ingress.tlsSecretName",
		}[domains.Reason]
		if field != "" {
			return out.failed(trimmed(domains.Message), remedyOf(subject, domains.Reason), field)
		}
	}
	class := "the default class"
	if name := ingress.Spec.IngressClassName; name != nil {
		class = "class " + *name
	}
	var addresses []string
	for _, at := range ingress.Status.LoadBalancer.Ingress {
		addresses = append(addresses, cmp.Or(at.Hostname, at.IP))
	}
	if len(addresses) > 0 {
		return out.ok("routes the host to the Service, %s, at %s", class, strings.Join(addresses, ", "))
	}
	return out.unknown(
		"routes the host to the Service, "+class+"; no ingress controller has published an address for it",
		"Check that a controller serves the class of ingress.className: kubectl get ingressclasses")
}

func ofHTTPRoute(out finding, subject *v1alpha1.Darkroom, route *gatewayv1.HTTPRoute) finding {
	accepted, all := gateway.AcceptedBy(route)
	names := make([]string, len(accepted))
	for i, parent := range accepted {
		names[i] = parent.String()
	}
	if all {
		return out.ok("accepted by %s", strings.Join(names, ", "))
	}
	return out.failed("not every Gateway has accepted it: "+messageOf(subject, v1alpha1.ConditionDomainsReady),
		remedyOf(subject, v1alpha1.ConditionDomainsReady), "gateway.parentRefs")
}

// service determines whether requests reach a pod.
func (e *Evidence) service(subject *v1alpha1.Darkroom) finding {
	out := hop(Service, "Service "+subject.Name)
	endpoints := e.Endpoints.Object
	if e.Endpoints.Access != Found {
		endpoints = Endpoints{Ready: int(subject.Status.ReadyReplicas), All: int(subject.Status.Replicas)}
	}
	count := fmt.Sprintf("%d of %d endpoints are ready", endpoints.Ready, endpoints.All)
	switch {
	case endpoints.Ready > 0:
		return out.ok("%s", count)
	case subject.Status.Phase == v1alpha1.PhaseIdle:
		return out.failed("the Darkroom is scaled to zero", "Set replicas to at least 1", "replicas")
	}
	return out.failed(strings.TrimSuffix(count+": "+messageOf(subject, v1alpha1.ConditionReady), ": "),
		remedyOf(subject, v1alpha1.ConditionReady), "")
}

// front blames the components in front of the Darkroom if a client received an error although the Darkroom serves the
// image.
func (e *Evidence) front(findings []finding) []finding {
	failed := slices.ContainsFunc(findings, func(f finding) bool { return f.State == Failed })
	at := slices.IndexFunc(findings, func(f finding) bool { return f.Kind == Route })
	if failed || at < 0 || e.Answer.Failure != "" || e.Seen < 400 {
		return findings
	}
	route := &findings[at]
	route.Status = e.Seen
	remedy := "Check that a controller serves it, that DNS resolves the host to it, and its log: kubectl describe " +
		strings.ToLower(strings.Replace(route.Name, " ", "/", 1))
	*route = route.failed("the client got "+statusText(e.Seen)+
		", while the Service serves the image: the response comes from something in front of the Service, such as the "+
		"default page of an ingress controller", remedy,
		map[bool]string{true: "gateway.parentRefs", false: "ingress.className"}[strings.HasPrefix(route.Name, "HTTPRoute")])
	return findings
}

func nameOf(darkroom *v1alpha1.Darkroom) string { return darkroom.Namespace + "/" + darkroom.Name }

func messageOf(darkroom *v1alpha1.Darkroom, conditionType string) string {
	if condition := v1alpha1.FindCondition(darkroom.Status.Conditions, conditionType); condition != nil {
		return trimmed(condition.Message)
	}
	return "the operator has not handled the Darkroom yet"
}

func trimmed(message string) string { return strings.TrimSuffix(message, ".") }

// remedyOf returns what to do about a condition or a reason; if unknown, how to learn more.
func remedyOf(darkroom *v1alpha1.Darkroom, of string) string {
	if condition := v1alpha1.FindCondition(darkroom.Status.Conditions, of); condition != nil {
		of = condition.Reason
	}
	remedy := advice.OfReason(of)
	if remedy == "" {
		return fmt.Sprintf("Look at: kubectl darkroom status %s -n %s", darkroom.Name, darkroom.Namespace)
	}
	return trimmed(remedy)
}
