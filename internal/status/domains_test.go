package status

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

func route(hosts []string, parents ...gatewayv1.RouteParentStatus) *gatewayv1.HTTPRoute {
	out := &gatewayv1.HTTPRoute{}
	for _, host := range hosts {
		out.Spec.Hostnames = append(out.Spec.Hostnames, gatewayv1.Hostname(host))
	}
	out.Status.Parents = parents
	return out
}

// says is what a Gateway says of a route.
func says(gateway string, conditions ...metav1.Condition) gatewayv1.RouteParentStatus {
	return gatewayv1.RouteParentStatus{
		ParentRef:  gatewayv1.ParentReference{Name: gatewayv1.ObjectName(gateway)},
		Conditions: conditions,
	}
}

var (
	accepted     = metav1.Condition{Type: "Accepted", Status: metav1.ConditionTrue, Reason: "Accepted"}
	unresolved   = metav1.Condition{Type: "ResolvedRefs", Status: metav1.ConditionFalse, Reason: "BackendNotFound", Message: "no such Service"}
	notAccepted  = metav1.Condition{Type: "Accepted", Status: metav1.ConditionFalse, Reason: "NotAllowedByListeners", Message: "namespace team-a may not attach"}
	notKnownYet  = metav1.Condition{Type: "Accepted", Status: metav1.ConditionUnknown, Reason: "Pending"}
	refusedWords = "Gateway public refuses the route: NotAllowedByListeners: namespace team-a may not attach."
)

func TestDomains(t *testing.T) {
	const yes, no = metav1.ConditionTrue, metav1.ConditionFalse
	for name, test := range map[string]struct {
		wanted    []string
		ingress   *networkingv1.Ingress
		route     *gatewayv1.HTTPRoute
		hosts     []string
		condition v1alpha1.Condition // without its type
		why       string
	}{
		"nothing routes yet": {
			wanted:    []string{"b.example.com", "a.example.com"},
			condition: v1alpha1.Condition{Status: no, Reason: v1alpha1.ReasonNotRouted, Message: "Not routed yet: b.example.com, a.example.com."},
		},
		"an Ingress of all hosts; they are sorted": {
			wanted:    []string{"b.example.com", "a.example.com"},
			ingress:   ingress("b.example.com", "a.example.com"),
			hosts:     []string{"a.example.com", "b.example.com"},
			condition: v1alpha1.Condition{Status: yes, Reason: v1alpha1.ReasonRouted, Message: "Routed: a.example.com, b.example.com."},
		},
		"an Ingress of some hosts": {
			wanted:    []string{"b.example.com", "a.example.com"},
			ingress:   ingress("a.example.com"),
			hosts:     []string{"a.example.com"},
			condition: v1alpha1.Condition{Status: no, Reason: v1alpha1.ReasonNotRouted, Message: "Not routed yet: b.example.com."},
		},
		"an Ingress of a host that is not asked for any more": {
			wanted:    []string{"a.example.com"},
			ingress:   ingress("a.example.com", "old.example.com"),
			hosts:     []string{"a.example.com", "old.example.com"},
			condition: v1alpha1.Condition{Status: yes, Reason: v1alpha1.ReasonRouted, Message: "Routed: a.example.com, old.example.com."},
			why:       "domains are those of the live Ingress",
		},
		"rules without a host, and hosts of several rules": {
			wanted:    []string{"a.example.com"},
			ingress:   ingress("a.example.com", "", "a.example.com"),
			hosts:     []string{"a.example.com"},
			condition: v1alpha1.Condition{Status: yes, Reason: v1alpha1.ReasonRouted, Message: "Routed: a.example.com."},
		},
		"an HTTPRoute that nobody has judged": {
			wanted:    []string{"a.example.com"},
			route:     route([]string{"a.example.com"}),
			hosts:     []string{"a.example.com"},
			condition: v1alpha1.Condition{Status: yes, Reason: v1alpha1.ReasonRouted, Message: "Routed: a.example.com."},
		},
		"an HTTPRoute that its Gateway accepts": {
			wanted:    []string{"a.example.com"},
			route:     route([]string{"a.example.com"}, says("public", accepted)),
			hosts:     []string{"a.example.com"},
			condition: v1alpha1.Condition{Status: yes, Reason: v1alpha1.ReasonRouted, Message: "Routed: a.example.com."},
		},
		"an HTTPRoute that its Gateway refuses": {
			wanted:    []string{"a.example.com"},
			route:     route([]string{"a.example.com"}, says("public", notAccepted)),
			hosts:     []string{"a.example.com"},
			condition: v1alpha1.Condition{Status: no, Reason: v1alpha1.ReasonNotRouted, Message: refusedWords},
		},
		"an HTTPRoute that is refused and lacks a host: the refusal says more": {
			wanted:    []string{"a.example.com", "b.example.com"},
			route:     route([]string{"a.example.com"}, says("public", notAccepted)),
			hosts:     []string{"a.example.com"},
			condition: v1alpha1.Condition{Status: no, Reason: v1alpha1.ReasonNotRouted, Message: refusedWords},
		},
		"an Ingress that is about to give way to an HTTPRoute": {
			wanted:    []string{"a.example.com", "b.example.com"},
			ingress:   ingress("a.example.com"),
			route:     route([]string{"b.example.com", "a.example.com"}),
			hosts:     []string{"a.example.com", "b.example.com"},
			condition: v1alpha1.Condition{Status: yes, Reason: v1alpha1.ReasonRouted, Message: "Routed: a.example.com, b.example.com."},
		},
		"no host is asked for, and none is routed": {
			condition: v1alpha1.Condition{Status: no, Reason: v1alpha1.ReasonNotRouted},
			why:       "a Darkroom without sub-domains is refused; nothing is routed, and nothing is said to be",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if test.why != "" {
				t.Log(test.why)
			}
			got := determineDomains(Observation{Hosts: test.wanted, Ingress: test.ingress, Route: test.route})
			if diff := cmp.Diff(test.hosts, got.hosts); diff != "" && len(test.hosts)+len(got.hosts) > 0 {
				t.Errorf("hosts (-want +got):\n%s", diff)
			}
			test.condition.Type = v1alpha1.ConditionDomainsReady
			if diff := cmp.Diff(test.condition, got.condition); diff != "" {
				t.Errorf("condition (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDomainsLeaveTheirSourcesAlone(t *testing.T) {
	wanted := []string{"b.example.com", "a.example.com", "c.example.com"}
	o := Observation{Hosts: wanted, Ingress: ingress("b.example.com", "a.example.com"), Route: route([]string{"z.example.com"})}
	before := Observation{Hosts: []string{"b.example.com", "a.example.com", "c.example.com"}, Ingress: o.Ingress.DeepCopy(), Route: o.Route.DeepCopy()}
	determineDomains(o)
	if diff := cmp.Diff(before, o); diff != "" {
		t.Errorf("objects of the cache were changed (-before +after):\n%s", diff)
	}
}

func TestRefusalOfARoute(t *testing.T) {
	for name, test := range map[string]struct {
		parents []gatewayv1.RouteParentStatus
		want    string
	}{
		"nobody has judged it":         {},
		"a Gateway without a word":     {parents: []gatewayv1.RouteParentStatus{says("public")}},
		"accepted":                     {parents: []gatewayv1.RouteParentStatus{says("public", accepted)}},
		"still being judged":           {parents: []gatewayv1.RouteParentStatus{says("public", notKnownYet)}},
		"accepted with another lament": {parents: []gatewayv1.RouteParentStatus{says("public", unresolved, accepted)}},
		"refused":                      {parents: []gatewayv1.RouteParentStatus{says("public", unresolved, notAccepted)}, want: refusedWords},
		"refused by the second":        {parents: []gatewayv1.RouteParentStatus{says("internal", accepted), says("public", notAccepted)}, want: refusedWords},
		"refused by both: the first is named": {
			parents: []gatewayv1.RouteParentStatus{says("public", notAccepted), says("internal", notAccepted)}, want: refusedWords,
		},
		"refused without a message": {
			parents: []gatewayv1.RouteParentStatus{says("public", metav1.Condition{Type: "Accepted", Status: metav1.ConditionFalse, Reason: "NoMatchingParent"})},
			want:    "Gateway public refuses the route: NoMatchingParent.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, routeRefusal(route(nil, test.parents...))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
