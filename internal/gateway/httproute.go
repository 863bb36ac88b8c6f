// Package gateway reads the hosts of routes, and the acceptance of HTTPRoutes by Gateways.
package gateway

import (
	"fmt"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// Hosts returns the hosts of an Ingress or HTTPRoute; none for nil and for other kinds.
func Hosts(route metav1.Object) []string {
	var hosts []string
	switch typed := route.(type) {
	case *networkingv1.Ingress:
		for _, rule := range ptr.Deref(typed, networkingv1.Ingress{}).Spec.Rules {
			if rule.Host != "" {
				hosts = append(hosts, rule.Host)
			}
		}
	case *gatewayv1.HTTPRoute:
		for _, host := range ptr.Deref(typed, gatewayv1.HTTPRoute{}).Spec.Hostnames {
			hosts = append(hosts, string(host))
		}
	}
	return hosts
}

// Acceptance describes whether a Gateway accepts the current generation of a route. Greater values are worse.
type Acceptance int

const (
	// Accepted means that Accepted and ResolvedRefs are True.
	Accepted Acceptance = iota
	// Awaiting means that there is no status yet, or only one of an earlier generation.
	Awaiting
	// Unresolved means that the route is accepted, but ResolvedRefs is not True.
	Unresolved
	// Refused means that Accepted is False.
	Refused
)

// Kinds of parents.
const (
	KindGateway     = "Gateway"
	KindListenerSet = "ListenerSet"
)

// Parent is a Gateway or ListenerSet, or one listener of it, with the defaults of the Gateway API.
type Parent struct {
	Kind, Namespace, Name string
	// Section is the name of the listener; empty means all.
	Section string
	// Port is the port of the listener; 0 means any.
	Port gatewayv1.PortNumber
}

// String names the parent in a message.
func (p Parent) String() string {
	parent := fmt.Sprintf("%s %s/%s", p.Kind, p.Namespace, p.Name)
	if p.Section != "" {
		return fmt.Sprintf("Listener %s of %s", p.Section, parent)
	}
	return parent
}

// ParentOf returns the Gateway or ListenerSet that a route in a namespace references; false if the reference is to
// another kind.
func ParentOf(ref gatewayv1.ParentReference, namespace string) (Parent, bool) {
	kind := string(ptr.Deref(ref.Kind, KindGateway))
	return Parent{
		Kind:      kind,
		Namespace: string(ptr.Deref(ref.Namespace, gatewayv1.Namespace(namespace))),
		Name:      string(ref.Name),
		Section:   string(ptr.Deref(ref.SectionName, "")),
		Port:      ptr.Deref(ref.Port, 0),
	}, ptr.Deref(ref.Group, gatewayv1.GroupName) == gatewayv1.GroupName && (kind == KindGateway || kind == KindListenerSet)
}

// AcceptanceBy reports whether a Gateway accepts the current generation of a route, with the condition that says why it
// does not, or why a reference of the route is unresolved; otherwise the condition is nil. A Gateway has only one
// controller, so if several have reported, the most favorable report counts and the others are stale.
func AcceptanceBy(route *gatewayv1.HTTPRoute, by Parent) (Acceptance, *metav1.Condition) {
	best, why := Awaiting, (*metav1.Condition)(nil)
	if route == nil {
		return best, why
	}
	for i := range route.Status.Parents {
		status := &route.Status.Parents[i]
		if of, isGateway := ParentOf(status.ParentRef, route.Namespace); !isGateway || of != by {
			continue
		}
		accepted := present(route, status.Conditions, gatewayv1.RouteConditionAccepted)
		resolved := present(route, status.Conditions, gatewayv1.RouteConditionResolvedRefs)
		switch {
		case accepted != nil && accepted.Status == metav1.ConditionFalse:
			if best == Awaiting {
				best, why = Refused, accepted
			}
		case accepted == nil || accepted.Status != metav1.ConditionTrue || resolved == nil ||
			resolved.Status == metav1.ConditionUnknown:
		case resolved.Status == metav1.ConditionFalse:
			best, why = Unresolved, resolved
		default:
			return Accepted, nil
		}
	}
	return best, why
}

// present returns the condition of a type if it describes the route's current generation.
func present(
	route *gatewayv1.HTTPRoute, conditions []metav1.Condition, conditionType gatewayv1.RouteConditionType,
) *metav1.Condition {
	condition := meta.FindStatusCondition(conditions, string(conditionType))
	if condition == nil || condition.ObservedGeneration < route.Generation {
		return nil
	}
	return condition
}

// AcceptedBy returns the Gateways in a route's parentRefs that have accepted it, and whether all have.
func AcceptedBy(route *gatewayv1.HTTPRoute) (accepted []Parent, all bool) {
	if route == nil {
		return nil, false
	}
	all = true
	for _, ref := range route.Spec.ParentRefs {
		by, isGateway := ParentOf(ref, route.Namespace)
		if !isGateway {
			continue
		}
		if acceptance, _ := AcceptanceBy(route, by); acceptance == Accepted {
			accepted = append(accepted, by)
		} else {
			all = false
		}
	}
	return accepted, all
}
