package status

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// domains are the hosts that are routed, and what to say of them.
type domains struct {
	hosts     []string
	condition v1alpha1.Condition
}

// determineDomains reads the hosts off the live Ingress and HTTPRoute, and
// compares them with those that the resource asks for.
func determineDomains(o Observation) domains {
	var hosts []string
	if o.Ingress != nil {
		for _, rule := range o.Ingress.Spec.Rules {
			hosts = append(hosts, rule.Host)
		}
	}
	refusal := ""
	if o.Route != nil {
		for _, host := range o.Route.Spec.Hostnames {
			hosts = append(hosts, string(host))
		}
		refusal = routeRefusal(o.Route)
	}
	hosts = slices.DeleteFunc(hosts, func(host string) bool { return host == "" })
	slices.Sort(hosts)
	hosts = slices.Compact(hosts)

	missing := slices.DeleteFunc(slices.Clone(o.Hosts), func(host string) bool { return slices.Contains(hosts, host) })
	refused := refusedHosts(o.Refused)
	missing = slices.DeleteFunc(missing, func(host string) bool { return slices.Contains(refused, host) })
	condition := v1alpha1.Condition{
		Type:   v1alpha1.ConditionDomainsReady,
		Status: metav1.ConditionFalse,
		Reason: v1alpha1.ReasonNotRouted,
	}
	switch {
	case len(o.Hosts) == 0:
	case refusal != "":
		condition.Message = refusal
	case len(refused) > 0:
		condition.Reason = v1alpha1.ReasonDomainConflict
		condition.Message = conflictMessage(o.Darkroom.Namespace, o.Refused)
	case len(missing) > 0:
		condition.Message = "Not routed yet: " + strings.Join(missing, ", ") + "."
	default:
		condition.Status = metav1.ConditionTrue
		condition.Reason = v1alpha1.ReasonRouted
		condition.Message = "Routed: " + strings.Join(hosts, ", ") + "."
	}
	return domains{hosts: hosts, condition: condition}
}

// routeRefusal says why a Gateway does not accept the route. A route that no
// Gateway has judged yet is not refused.
func routeRefusal(route *gatewayv1.HTTPRoute) string {
	for _, parent := range route.Status.Parents {
		for _, condition := range parent.Conditions {
			if condition.Type == string(gatewayv1.RouteConditionAccepted) && condition.Status == metav1.ConditionFalse {
				cause := strings.TrimSuffix(condition.Reason+": "+condition.Message, ": ")
				return sentence(fmt.Sprintf("Gateway %s refuses the route: %s", parent.ParentRef.Name, cause))
			}
		}
	}
	return ""
}
