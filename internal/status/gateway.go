package status

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// verdictOfGateway is what a Gateway has said of the present generation of a route.
// Of several, the greatest is what there is to report.
type verdictOfGateway int

const (
	// acceptedByGateway: Accepted and ResolvedRefs are True.
	acceptedByGateway verdictOfGateway = iota
	// awaitingGateway: nothing yet, or only of an earlier generation.
	awaitingGateway
	// unresolvedRefs: accepted, and a reference of the route leads nowhere.
	unresolvedRefs
	// refusedByGateway: Accepted is False.
	refusedByGateway
)

// attachment is what there is to report of a route and all its Gateways.
type attachment struct {
	verdict verdictOfGateway
	message string
}

func (a attachment) is(verdict verdictOfGateway) bool { return a.verdict == verdict }

// attachmentOf judges the route by every Gateway that the Darkroom names, so that a
// route that the cache shows with earlier Gateways does not count. Without Gateways
// there is nothing to wait for.
func attachmentOf(darkroom *v1alpha1.Darkroom, route *gatewayv1.HTTPRoute) attachment {
	var worst attachment
	if darkroom.Spec.Gateway == nil {
		return worst
	}
	for _, ref := range darkroom.Spec.Gateway.ParentRefs {
		parent := parentOf(ref, darkroom.Namespace)
		verdict, said := judge(route, parent)
		if verdict <= worst.verdict {
			continue
		}
		worst.verdict = verdict
		switch verdict {
		case awaitingGateway:
			worst.message = fmt.Sprintf("%s has not accepted the HTTPRoute yet: check that the Gateway exists, that its controller runs, "+
				"and that its listeners allow routes from namespace %s.", parent, darkroom.Namespace)
		case unresolvedRefs:
			worst.message = sentence(fmt.Sprintf("%s cannot resolve a reference of the HTTPRoute: %s", parent, cause(said)))
		case refusedByGateway:
			worst.message = sentence(fmt.Sprintf("%s does not accept the HTTPRoute: %s", parent, cause(said)))
		}
	}
	return worst
}

func cause(said *metav1.Condition) string {
	return strings.TrimSuffix(said.Reason+": "+said.Message, ": ")
}

// parent is a Gateway, or one listener of it, with the defaults of the Gateway API.
type parent struct {
	namespace, name, section string
	port                     gatewayv1.PortNumber
}

func (p parent) String() string {
	gateway := fmt.Sprintf("Gateway %s/%s", p.namespace, p.name)
	if p.section != "" {
		return fmt.Sprintf("Listener %s of %s", p.section, gateway)
	}
	return gateway
}

func parentOf(ref v1alpha1.ParentRef, namespace string) parent {
	if ref.Namespace != "" {
		namespace = ref.Namespace
	}
	return parent{namespace: namespace, name: ref.Name, section: ref.SectionName}
}

// parentOfReference returns the Gateway that a route in a namespace references;
// false if that is something else.
func parentOfReference(ref gatewayv1.ParentReference, namespace string) (parent, bool) {
	return parent{
		namespace: string(ptr.Deref(ref.Namespace, gatewayv1.Namespace(namespace))),
		name:      string(ref.Name),
		section:   string(ptr.Deref(ref.SectionName, "")),
		port:      ptr.Deref(ref.Port, 0),
	}, ptr.Deref(ref.Group, gatewayv1.GroupName) == gatewayv1.GroupName && ptr.Deref(ref.Kind, "Gateway") == "Gateway"
}

// judge returns what a Gateway has said of the present generation of a route, and
// the condition that it follows from. What it said of an earlier one does not count.
// Of several controllers that speak for one Gateway, the most favourable counts: a
// Gateway has one controller, and the others are of the past.
func judge(route *gatewayv1.HTTPRoute, by parent) (verdictOfGateway, *metav1.Condition) {
	best, why := awaitingGateway, (*metav1.Condition)(nil)
	if route == nil {
		return best, why
	}
	for i := range route.Status.Parents {
		status := &route.Status.Parents[i]
		if of, isGateway := parentOfReference(status.ParentRef, route.Namespace); !isGateway || of != by {
			continue
		}
		accepted := present(route, status.Conditions, gatewayv1.RouteConditionAccepted)
		resolved := present(route, status.Conditions, gatewayv1.RouteConditionResolvedRefs)
		switch {
		case accepted != nil && accepted.Status == metav1.ConditionFalse:
			if best == awaitingGateway {
				best, why = refusedByGateway, accepted
			}
		case accepted == nil || accepted.Status != metav1.ConditionTrue || resolved == nil || resolved.Status == metav1.ConditionUnknown:
		case resolved.Status == metav1.ConditionFalse:
			best, why = unresolvedRefs, resolved
		default:
			return acceptedByGateway, nil
		}
	}
	return best, why
}

// present returns the condition of a type if it is of the route's present generation.
func present(route *gatewayv1.HTTPRoute, conditions []metav1.Condition, conditionType gatewayv1.RouteConditionType) *metav1.Condition {
	condition := meta.FindStatusCondition(conditions, string(conditionType))
	if condition == nil || condition.ObservedGeneration < route.Generation {
		return nil
	}
	return condition
}

// acceptedParents are the Gateways of a route that have accepted it.
func acceptedParents(route *gatewayv1.HTTPRoute) []parent {
	if route == nil {
		return nil
	}
	var accepted []parent
	for _, ref := range route.Spec.ParentRefs {
		if by, isGateway := parentOfReference(ref, route.Namespace); isGateway {
			if verdict, _ := judge(route, by); verdict == acceptedByGateway {
				accepted = append(accepted, by)
			}
		}
	}
	return accepted
}

// isSecure reports whether the route is attached to a listener that is known to
// serve HTTPS. The operator reads no Gateways, so what it knows of a listener is its
// name: https, or one that starts with "https-" or ends in "-https".
func isSecure(by parent) bool {
	const secure = "https"
	return by.section == secure || strings.HasPrefix(by.section, secure+"-") || strings.HasSuffix(by.section, "-"+secure)
}
