package status

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/claims"
	"github.com/darkroom-operator/darkroom-operator/internal/gateway"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

// route is an HTTPRoute of generation 3 in the namespace team-a that names the Gateways
// which have said something of it.
func route(hosts []string, parents ...gatewayv1.RouteParentStatus) *gatewayv1.HTTPRoute {
	out := &gatewayv1.HTTPRoute{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Generation: 3}}
	for _, host := range hosts {
		out.Spec.Hostnames = append(out.Spec.Hostnames, gatewayv1.Hostname(host))
	}
	out.Status.Parents = parents
	for _, parent := range parents {
		out.Spec.ParentRefs = append(out.Spec.ParentRefs, parent.ParentRef)
	}
	return out
}

// says is what a Gateway says of a route.
func says(gateway string, conditions ...metav1.Condition) gatewayv1.RouteParentStatus {
	return gatewayv1.RouteParentStatus{
		ParentRef:  gatewayv1.ParentReference{Name: gatewayv1.ObjectName(gateway)},
		Conditions: conditions,
	}
}

// at changes the Gateway and the listener of a status.
func at(said gatewayv1.RouteParentStatus, namespace, section string) gatewayv1.RouteParentStatus {
	if namespace != "" {
		said.ParentRef.Namespace = (*gatewayv1.Namespace)(&namespace)
	}
	if section != "" {
		said.ParentRef.SectionName = (*gatewayv1.SectionName)(&section)
	}
	return said
}

func of(generation int64, condition metav1.Condition) metav1.Condition {
	condition.ObservedGeneration = generation
	return condition
}

var (
	accepted    = metav1.Condition{Type: "Accepted", Status: metav1.ConditionTrue, Reason: "Accepted", ObservedGeneration: 3}
	resolved    = metav1.Condition{Type: "ResolvedRefs", Status: metav1.ConditionTrue, Reason: "ResolvedRefs", ObservedGeneration: 3}
	unresolved  = metav1.Condition{Type: "ResolvedRefs", Status: metav1.ConditionFalse, Reason: "BackendNotFound", Message: "no such Service", ObservedGeneration: 3}
	notAccepted = metav1.Condition{
		Type: "Accepted", Status: metav1.ConditionFalse, Reason: "NotAllowedByListeners", Message: "namespace team-a may not attach", ObservedGeneration: 3,
	}
	notKnownYet = metav1.Condition{Type: "Accepted", Status: metav1.ConditionUnknown, Reason: "Pending", ObservedGeneration: 3}
)

// Messages about the Gateway public.
const (
	refusedWords    = "Gateway team-a/public does not accept the HTTPRoute: NotAllowedByListeners: namespace team-a may not attach."
	unresolvedWords = "Gateway team-a/public cannot resolve a reference of the HTTPRoute: BackendNotFound: no such Service."
	awaitedWords    = "Gateway team-a/public has not accepted the HTTPRoute yet: check that the Gateway exists, that its controller runs, " +
		"and that its listeners allow routes from namespace team-a."
)

func TestDomains(t *testing.T) {
	const yes, no, unknown = metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown
	for name, test := range map[string]struct {
		gateways  []string // that the resource names; none means an Ingress
		both      bool     // that it asks for an Ingress besides
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
		"an HTTPRoute that its Gateway accepts": {
			gateways:  []string{"public"},
			wanted:    []string{"a.example.com"},
			route:     route([]string{"a.example.com"}, says("public", accepted, resolved)),
			hosts:     []string{"a.example.com"},
			condition: v1alpha1.Condition{Status: yes, Reason: v1alpha1.ReasonRouted, Message: "Routed: a.example.com."},
		},
		"an HTTPRoute that is refused and lacks a host: the refusal says more": {
			gateways:  []string{"public"},
			wanted:    []string{"a.example.com", "b.example.com"},
			route:     route([]string{"a.example.com"}, says("public", notAccepted)),
			condition: v1alpha1.Condition{Status: no, Reason: v1alpha1.ReasonRouteRefused, Message: refusedWords},
		},
		"an HTTPRoute whose backend the Gateway does not find": {
			gateways:  []string{"public"},
			wanted:    []string{"a.example.com"},
			route:     route([]string{"a.example.com"}, says("public", accepted, unresolved)),
			condition: v1alpha1.Condition{Status: no, Reason: v1alpha1.ReasonRouteUnresolved, Message: unresolvedWords},
		},
		"an HTTPRoute that one of two Gateways accepts": {
			gateways:  []string{"internal", "public"},
			wanted:    []string{"a.example.com"},
			route:     route([]string{"a.example.com"}, says("internal", accepted, resolved), says("public", notKnownYet)),
			hosts:     []string{"a.example.com"},
			condition: v1alpha1.Condition{Status: unknown, Reason: v1alpha1.ReasonAwaitingGateway, Message: awaitedWords},
			why:       "images are served by one of them already",
		},
		"an HTTPRoute that the cache shows with the Gateway of before": {
			gateways:  []string{"public"},
			wanted:    []string{"a.example.com"},
			route:     route([]string{"a.example.com"}, says("internal", accepted, resolved)),
			hosts:     []string{"a.example.com"},
			condition: v1alpha1.Condition{Status: unknown, Reason: v1alpha1.ReasonAwaitingGateway, Message: awaitedWords},
			why:       "the acceptance is of another Gateway than the resource names",
		},
		"an Ingress that is about to give way to an HTTPRoute": {
			gateways:  []string{"public"},
			wanted:    []string{"a.example.com", "b.example.com"},
			ingress:   ingress("a.example.com"),
			route:     route([]string{"b.example.com", "a.example.com"}, says("public", accepted, resolved)),
			hosts:     []string{"a.example.com", "b.example.com"},
			condition: v1alpha1.Condition{Status: yes, Reason: v1alpha1.ReasonRouted, Message: "Routed: a.example.com, b.example.com."},
		},
		"an HTTPRoute that is about to give way to an Ingress, and that is refused": {
			wanted:    []string{"a.example.com"},
			ingress:   ingress("a.example.com"),
			route:     route([]string{"a.example.com"}, says("public", notAccepted)),
			hosts:     []string{"a.example.com"},
			condition: v1alpha1.Condition{Status: yes, Reason: v1alpha1.ReasonRouted, Message: "Routed: a.example.com."},
		},
		"both, and the Gateway has not judged the route": {
			gateways: []string{"public"}, both: true,
			wanted:    []string{"a.example.com"},
			ingress:   ingress("a.example.com"),
			route:     route([]string{"a.example.com"}),
			hosts:     []string{"a.example.com"},
			condition: v1alpha1.Condition{Status: unknown, Reason: v1alpha1.ReasonAwaitingGateway, Message: awaitedWords},
			why:       "it is not the time to remove the Ingress",
		},
		"both, and the Ingress lacks a host": {
			gateways: []string{"public"}, both: true,
			wanted:    []string{"a.example.com"},
			route:     route([]string{"a.example.com"}, says("public", accepted, resolved)),
			hosts:     []string{"a.example.com"},
			condition: v1alpha1.Condition{Status: no, Reason: v1alpha1.ReasonNotRouted, Message: "Not routed yet: a.example.com."},
		},
		"no host is asked for, and none is routed": {
			condition: v1alpha1.Condition{Status: no, Reason: v1alpha1.ReasonNotRouted, Message: "The Darkroom names no sub-domain."},
			why:       "a Darkroom without sub-domains is refused; nothing is routed, and nothing is said to be",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if test.why != "" {
				t.Log(test.why)
			}
			darkroom := photos()
			if test.gateways != nil {
				darkroom.Gateway(test.gateways...)
			}
			if test.both {
				darkroom.Ingress(v1alpha1.Ingress{})
			}
			hosts, condition := determineDomains(Observation{Darkroom: darkroom.Obj(), Hosts: test.wanted, Ingress: test.ingress, Route: test.route})
			if diff := cmp.Diff(test.hosts, hosts); diff != "" && len(test.hosts)+len(hosts) > 0 {
				t.Errorf("hosts (-want +got):\n%s", diff)
			}
			test.condition.Type = v1alpha1.ConditionDomainsReady
			if diff := cmp.Diff(test.condition, condition); diff != "" {
				t.Errorf("condition (-want +got):\n%s", diff)
			}
		})
	}
}

func TestURLIsThatOfTheFirstDomain(t *testing.T) {
	secure := ingress("b.example.com", "a.example.com")
	secure.Spec.TLS = []networkingv1.IngressTLS{{SecretName: "cert", Hosts: []string{"a.example.com", "b.example.com"}}}
	elsewhere := ingress("a.example.com")
	elsewhere.Spec.TLS = []networkingv1.IngressTLS{{SecretName: "cert", Hosts: []string{"other.example.com"}}}
	listener := func(name string, conditions ...metav1.Condition) *gatewayv1.HTTPRoute {
		return route([]string{"a.example.com"}, at(says("public", conditions...), "gateways", name))
	}
	for name, test := range map[string]struct {
		ingress *networkingv1.Ingress
		route   *gatewayv1.HTTPRoute
		want    string
	}{
		"nothing routes":                 {},
		"an Ingress with a certificate":  {ingress: secure, want: "https://a.example.com"},
		"a certificate for another host": {ingress: elsewhere, want: "http://a.example.com"},
		"a listener http":                {route: listener("http", accepted, resolved), want: "http://a.example.com"},
		"a listener https":               {route: listener("https", accepted, resolved), want: "https://a.example.com"},
		"a listener public-https":        {route: listener("public-https", accepted, resolved), want: "https://a.example.com"},
		"an Ingress, and a listener https that does not accept": {
			ingress: ingress("a.example.com"), route: listener("https", notAccepted), want: "http://a.example.com",
		},
		"an Ingress without a certificate, and a listener https": {
			ingress: ingress("a.example.com"), route: listener("https", accepted, resolved), want: "https://a.example.com",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := Determine(Observation{Darkroom: photos().Obj(), Hosts: []string{"a.example.com"}, Ingress: test.ingress, Route: test.route})
			if got.URL != test.want {
				t.Errorf("got %q, want %q", got.URL, test.want)
			}
		})
	}
}

func TestURLsAtAnotherSchemeAndPort(t *testing.T) {
	secure := ingress("a.example.com")
	secure.Spec.TLS = []networkingv1.IngressTLS{{SecretName: "certificate"}}
	for name, test := range map[string]struct {
		published Published
		ingress   *networkingv1.Ingress
		want      string
	}{
		"derived":                       {Published{}, ingress("a.example.com"), "http://a.example.com"},
		"a port":                        {Published{Port: 8080}, ingress("a.example.com"), "http://a.example.com:8080"},
		"a load balancer with TLS":      {Published{Scheme: "https"}, ingress("a.example.com"), "https://a.example.com"},
		"a scheme against certificates": {Published{Scheme: "http", Port: 80}, secure, "http://a.example.com"},
		"the default port of the other": {Published{Scheme: "http", Port: 443}, ingress("a.example.com"), "http://a.example.com:443"},
	} {
		if err := test.published.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got := urlOf([]string{"a.example.com"}, Observation{Published: test.published, Ingress: test.ingress})
		if got != test.want {
			t.Errorf("%s: the URL is %s, want %s", name, got, test.want)
		}
	}
}

func TestARouteIsJudgedByEachGatewayThatTheDarkroomNames(t *testing.T) {
	type attachment struct {
		verdict gateway.Verdict
		message string
	}
	bare := notAccepted
	bare.Reason, bare.Message = "NoMatchingParent", ""
	service := says("public", accepted, resolved)
	service.ParentRef.Kind = ptr.To[gatewayv1.Kind]("Service")
	for name, test := range map[string]struct {
		refs    []v1alpha1.ParentRef // the Gateway public unless set
		parents []gatewayv1.RouteParentStatus
		want    attachment
	}{
		"nothing is said": {want: attachment{gateway.Awaiting, awaitedWords}},
		"accepted":        {parents: []gatewayv1.RouteParentStatus{says("public", accepted, resolved)}},
		"refused":         {parents: []gatewayv1.RouteParentStatus{says("public", resolved, notAccepted)}, want: attachment{gateway.Refused, refusedWords}},
		"refused without a message": {
			parents: []gatewayv1.RouteParentStatus{says("public", bare)},
			want:    attachment{gateway.Refused, "Gateway team-a/public does not accept the HTTPRoute: NoMatchingParent."},
		},
		"a Gateway of that name in another namespace accepts it": {
			parents: []gatewayv1.RouteParentStatus{at(says("public", accepted, resolved), "gateways", "")},
			want:    attachment{gateway.Awaiting, awaitedWords},
		},
		"one listener accepts it, where all were asked": {
			parents: []gatewayv1.RouteParentStatus{at(says("public", accepted, resolved), "", "http")},
			want:    attachment{gateway.Awaiting, awaitedWords},
		},
		"a Service of that name accepts it": {
			parents: []gatewayv1.RouteParentStatus{service}, want: attachment{gateway.Awaiting, awaitedWords},
		},
		"a listener of a Gateway elsewhere is awaited": {
			refs: []v1alpha1.ParentRef{{Name: "public", Namespace: "gateways", SectionName: "https"}},
			want: attachment{gateway.Awaiting, "Listener https of Gateway gateways/public has not accepted the HTTPRoute yet: check that the Gateway exists, " +
				"that its controller runs, and that its listeners allow routes from namespace team-a."},
		},
		"of two, the one that refuses is named": {
			refs:    []v1alpha1.ParentRef{{Name: "absent"}, {Name: "internal"}, {Name: "public"}},
			parents: []gatewayv1.RouteParentStatus{says("internal", accepted, unresolved), says("public", notAccepted)},
			want:    attachment{gateway.Refused, refusedWords},
		},
		"a controller of the past refuses it, that of today accepts it": {
			parents: []gatewayv1.RouteParentStatus{says("public", notAccepted), says("public", accepted, resolved)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			refs := test.refs
			if refs == nil {
				refs = []v1alpha1.ParentRef{{Name: "public"}}
			}
			darkroom := photos().Spec(func(spec *v1alpha1.DarkroomSpec) { spec.Gateway = &v1alpha1.Gateway{ParentRefs: refs} }).Obj()
			verdict, message := attachmentOf(darkroom, route([]string{host}, test.parents...))
			if got := (attachment{verdict, message}); got != test.want {
				t.Errorf("got %+v\nwant %+v", got, test.want)
			}
		})
	}
}

func TestARouteOfAnEarlierGenerationIsAwaited(t *testing.T) {
	darkroom := photos().Gateway("public").Obj()
	for generation, want := range map[int64]gateway.Verdict{2: gateway.Awaiting, 3: gateway.Accepted} {
		for _, stale := range []func(metav1.Condition, metav1.Condition) []metav1.Condition{
			func(a, r metav1.Condition) []metav1.Condition { return []metav1.Condition{of(generation, a), r} },
			func(a, r metav1.Condition) []metav1.Condition { return []metav1.Condition{a, of(generation, r)} },
		} {
			if got, _ := attachmentOf(darkroom, route([]string{host}, says("public", stale(accepted, resolved)...))); got != want {
				t.Errorf("a condition of generation %d of a route of generation 3: got %v, want %v", generation, got, want)
			}
		}
	}
}

func refusedBy(host, namespace, name string) claims.Refusal {
	return claims.Refusal{Host: host, Owner: types.NamespacedName{Namespace: namespace, Name: name}}
}

func TestTheConflictOfARefusedHostDisclosesNothingAboutOtherTenants(t *testing.T) {
	darkroom := darkrooms.New("photos", "team-a").SubDomains("a", "b").Obj()
	report := Determine(Observation{
		Darkroom: darkroom,
		Hosts:    []string{"a.example.com", "b.example.com"},
		Refused:  []claims.Refusal{refusedBy("a.example.com", "team-a", "mine"), refusedBy("b.example.com", "team-b", "theirs")},
	})
	condition := v1alpha1.FindCondition(report.Conditions, v1alpha1.ConditionDomainsReady)
	if condition.Status != metav1.ConditionFalse || condition.Reason != v1alpha1.ReasonDomainConflict {
		t.Fatalf("the condition is %+v", condition)
	}
	for _, want := range []string{"a.example.com", "b.example.com", "team-a/mine"} {
		if !strings.Contains(condition.Message, want) {
			t.Errorf("%q does not name %s", condition.Message, want)
		}
	}
	for _, leak := range []string{"team-b", "theirs"} {
		if strings.Contains(condition.Message, leak) {
			t.Errorf("%q tells of another tenant", condition.Message)
		}
	}
}
