package status

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/gateway"
	"github.com/darkroom-operator/darkroom-operator/internal/hosts"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

// route returns an HTTPRoute of generation 3 in the namespace team-a with the statuses of the Gateways that it
// references.
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

// says returns the status of a route at a Gateway.
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
	accepted = metav1.Condition{
		Type: "Accepted", Status: metav1.ConditionTrue,
		Reason: "Accepted", ObservedGeneration: 3,
	}
	resolved = metav1.Condition{
		Type: "ResolvedRefs", Status: metav1.ConditionTrue,
		Reason: "ResolvedRefs", ObservedGeneration: 3,
	}
	unresolved = metav1.Condition{
		Type: "ResolvedRefs", Status: metav1.ConditionFalse, Reason: "BackendNotFound",
		Message: "no such Service", ObservedGeneration: 3,
	}
	notAccepted = metav1.Condition{
		Type: "Accepted", Status: metav1.ConditionFalse, Reason: "NotAllowedByListeners",
		Message: "namespace team-a may not attach", ObservedGeneration: 3,
	}
	notKnownYet = metav1.Condition{
		Type: "Accepted", Status: metav1.ConditionUnknown,
		Reason: "Pending", ObservedGeneration: 3,
	}
)

// Messages about the Gateway public.
const (
	refusedWords = "Gateway team-a/public does not accept the HTTPRoute: NotAllowedByListeners: " +
		"namespace team-a may not attach."
	unresolvedWords = "Gateway team-a/public cannot resolve a reference of the HTTPRoute: " +
		"BackendNotFound: no such Service."
	awaitedWords = "Gateway team-a/public has not accepted the HTTPRoute yet: check that the Gateway exists, that its " +
		"controller is running, and that its listeners allow routes from namespace team-a."
)

// domains are the hosts that are reported as routed, with the condition DomainsReady.
type domains struct {
	hosts     []string
	condition v1alpha1.Condition
}

func domainsReady(status metav1.ConditionStatus, reason, message string, hosts ...string) domains {
	return domains{hosts, v1alpha1.Condition{
		Type: v1alpha1.ConditionDomainsReady, Status: status,
		Reason: reason, Message: message,
	}}
}

func routedAt(hosts ...string) domains {
	return domainsReady(yes, v1alpha1.ReasonRouted, "Routed: "+strings.Join(hosts, ", ")+".", hosts...)
}

type domainsCase struct {
	observation Observation
	want        domains
}

func checkDomains(t *testing.T, cases map[string]domainsCase) {
	t.Helper()
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			hosts := servedHosts(test.observation)
			condition := determineDomains(test.observation, hosts)
			expect.Equal(t, "domains and condition", test.want, domains{hosts, condition},
				cmp.AllowUnexported(domains{}), cmpopts.EquateEmpty())
		})
	}
}

// classedIngress is an Ingress of the class nope.
func classedIngress(host string) *networkingv1.Ingress {
	out := ingress(host)
	out.Spec.IngressClassName = ptr.To("nope")
	return out
}

func TestDomainsOfAnIngress(t *testing.T) {
	const a, b = "a.example.com", "b.example.com"
	byIngress := photos().Obj()
	had := func(hosts ...string) *v1alpha1.Darkroom {
		return photos().Status(func(s *v1alpha1.DarkroomStatus) { s.Domains = hosts }).Obj()
	}
	unpublished := classedIngress(a)
	unpublished.Status = networkingv1.IngressStatus{}
	checkDomains(t, map[string]domainsCase{
		"no routes yet": {
			Observation{Darkroom: byIngress, Hosts: []string{b, a}},
			domainsReady(no, v1alpha1.ReasonNotRouted, "Not routed yet: b.example.com, a.example.com."),
		},
		"an Ingress of all hosts; they are sorted": {
			Observation{Darkroom: byIngress, Hosts: []string{b, a}, Ingress: ingress(b, a)},
			routedAt(a, b),
		},
		"an Ingress with a host that is no longer in the spec": {
			Observation{Darkroom: had("old.example.com"), Hosts: []string{a}, Ingress: ingress(a, "old.example.com")},
			routedAt(a, "old.example.com"),
		},
		"a refused host that is still routed": {
			Observation{Darkroom: had(a), Hosts: []string{a}, Refused: []hosts.Refusal{{Host: a}}, Ingress: ingress(a)},
			domainsReady(no, v1alpha1.ReasonDomainConflict, conflictMessage("team-a", []hosts.Refusal{{Host: a}}), a),
		},
		"a host that another client added to the Ingress": {
			Observation{Darkroom: byIngress, Hosts: []string{a}, Ingress: ingress(a, "forged.example.com")},
			routedAt(a),
		},
		"a host of another Darkroom that another client added to the Ingress": {
			Observation{Darkroom: byIngress, Hosts: []string{a}, Refused: []hosts.Refusal{{Host: a}}, Ingress: ingress(a)},
			domainsReady(no, v1alpha1.ReasonDomainConflict, conflictMessage("team-a", []hosts.Refusal{{Host: a}})),
		},
		"rules without a host, and hosts of several rules": {
			Observation{Darkroom: byIngress, Hosts: []string{a}, Ingress: ingress(a, "", a)},
			routedAt(a),
		},
		"an Ingress of a class that does not exist": {
			Observation{
				Darkroom: byIngress, Hosts: []string{a}, MissingClass: true, MissingCertificates: []string{"cert"},
				Ingress: classedIngress(a),
			},
			domainsReady(no, v1alpha1.ReasonIngressClassMissing, "IngressClass nope does not exist, so no controller serves "+
				"the Ingress. Set ingress.className to a class listed by kubectl get ingressclasses.", a),
		},
		"an Ingress whose certificate does not exist": {
			Observation{Darkroom: byIngress, Hosts: []string{a}, MissingCertificates: []string{"cert"}, Ingress: ingress(a)},
			domainsReady(no, v1alpha1.ReasonCertificateMissing,
				"Secret cert with the certificate of the Ingress does not exist in namespace team-a.", a),
		},
		"an Ingress that no controller has published an address for": {
			Observation{
				Darkroom: byIngress, Hosts: []string{a},
				Ingress: unpublished,
			},
			domainsReady(unknown, v1alpha1.ReasonAwaitingAddress, "The Ingress routes a.example.com, but no ingress controller "+
				"has published an address for it. Check that a controller serves its class. Some controllers never publish an address.", a),
		},
		// A Darkroom without sub-domains is rejected, so nothing is routed or reported as routed.
		"no hosts in the spec, and none routed": {
			Observation{Darkroom: byIngress}, domainsReady(no, v1alpha1.ReasonNotRouted, "spec.subDomains is empty."),
		},
	})
}

func TestDomainsOfAnHTTPRoute(t *testing.T) {
	const a, b = "a.example.com", "b.example.com"
	byGateway, byTwo := photos().Gateway("public").Obj(), photos().Gateway("internal", "public").Obj()
	checkDomains(t, map[string]domainsCase{
		"an HTTPRoute that its Gateway accepts": {
			Observation{Darkroom: byGateway, Hosts: []string{a}, Route: route([]string{a}, says("public", accepted, resolved))},
			routedAt(a),
		},
		"an HTTPRoute that is refused and lacks a host: the refusal is reported": {
			Observation{Darkroom: byGateway, Hosts: []string{a, b}, Route: route([]string{a}, says("public", notAccepted))},
			domainsReady(no, v1alpha1.ReasonRouteRefused, refusedWords),
		},
		"an HTTPRoute whose backend the Gateway does not find": {
			Observation{Darkroom: byGateway, Hosts: []string{a}, Route: route([]string{a}, says("public", accepted, unresolved))},
			domainsReady(no, v1alpha1.ReasonRouteUnresolved, unresolvedWords),
		},
		// One of the Gateways already serves images.
		"an HTTPRoute that one of two Gateways accepts": {
			Observation{
				Darkroom: byTwo, Hosts: []string{a},
				Route: route([]string{a}, says("internal", accepted, resolved), says("public", notKnownYet)),
			},
			domainsReady(unknown, v1alpha1.ReasonAwaitingGateway, awaitedWords, a),
		},
		// The acceptance is from a Gateway that the spec no longer names.
		"a cached HTTPRoute with the previous Gateway": {
			Observation{Darkroom: byGateway, Hosts: []string{a}, Route: route([]string{a}, says("internal", accepted, resolved))},
			domainsReady(unknown, v1alpha1.ReasonAwaitingGateway, awaitedWords, a),
		},
	})
}

func TestDomainsWhileOneRouteReplacesTheOther(t *testing.T) {
	const a, b = "a.example.com", "b.example.com"
	byIngress, byGateway := photos().Obj(), photos().Gateway("public").Obj()
	byBoth := photos().Gateway("public").Ingress(v1alpha1.Ingress{}).Obj()
	checkDomains(t, map[string]domainsCase{
		"an Ingress that an HTTPRoute will replace": {
			Observation{
				Darkroom: byGateway, Hosts: []string{a, b}, Ingress: ingress(a),
				Route: route([]string{b, a}, says("public", accepted, resolved)),
			},
			routedAt(a, b),
		},
		"a refused HTTPRoute that an Ingress will replace": {
			Observation{
				Darkroom: byIngress, Hosts: []string{a}, Ingress: ingress(a),
				Route: route([]string{a}, says("public", notAccepted)),
			},
			routedAt(a),
		},
		// The user must not remove the Ingress yet.
		"both, before the Gateway has reported on the route": {
			Observation{Darkroom: byBoth, Hosts: []string{a}, Ingress: ingress(a), Route: route([]string{a})},
			domainsReady(unknown, v1alpha1.ReasonAwaitingGateway, awaitedWords, a),
		},
		"both, and the Ingress lacks a host": {
			Observation{Darkroom: byBoth, Hosts: []string{a}, Route: route([]string{a}, says("public", accepted, resolved))},
			domainsReady(no, v1alpha1.ReasonNotRouted, "Not routed yet: a.example.com.", a),
		},
		"an Ingress of a missing class that an HTTPRoute will replace": {
			Observation{
				Darkroom: byGateway, Hosts: []string{a}, MissingClass: true, MissingCertificates: []string{"cert"},
				Ingress: classedIngress(a), Route: route([]string{a}, says("public", accepted, resolved)),
			},
			routedAt(a),
		},
	})
}

func TestPublishedPortsArePorts(t *testing.T) {
	for port, valid := range map[int]bool{-1: false, 0: true, 1: true, 65535: true, 65536: false} {
		if err := (Published{Port: port}).Validate(); (err == nil) != valid {
			t.Errorf("port %d: got error %v", port, err)
		}
	}
}

func TestURLIsThatOfTheFirstDomain(t *testing.T) {
	certified := func(hosts ...string) *networkingv1.Ingress {
		out := ingress("b.example.com", "a.example.com")
		out.Spec.TLS = []networkingv1.IngressTLS{{SecretName: "cert", Hosts: hosts}}
		return out
	}
	plain := ingress("a.example.com")
	listener := func(name string, conditions ...metav1.Condition) *gatewayv1.HTTPRoute {
		return route([]string{"a.example.com"}, at(says("public", conditions...), "gateways", name))
	}
	for name, test := range map[string]struct {
		observation Observation
		want        string
	}{
		"nothing routes": {Observation{}, ""},
		"an Ingress":     {Observation{Ingress: plain}, "http://a.example.com"},
		"an Ingress with a certificate": {
			Observation{Ingress: certified("a.example.com", "b.example.com")},
			"https://a.example.com",
		},
		"an Ingress whose certificate does not exist": {
			Observation{Ingress: certified("a.example.com"), MissingCertificates: []string{"cert"}}, "http://a.example.com",
		},
		"a certificate for another host": {Observation{Ingress: certified("other.example.com")}, "http://a.example.com"},
		"a listener http":                {Observation{Route: listener("http", accepted, resolved)}, "http://a.example.com"},
		"a listener https": {
			Observation{Route: listener("https", accepted, resolved)},
			"https://a.example.com",
		},
		"a listener public-https": {
			Observation{Route: listener("public-https", accepted, resolved)},
			"https://a.example.com",
		},
		"an Ingress, and a listener https that does not accept": {
			Observation{Ingress: plain, Route: listener("https", notAccepted)}, "http://a.example.com",
		},
		"an Ingress without a certificate, and a listener https": {
			Observation{Ingress: plain, Route: listener("https", accepted, resolved)}, "https://a.example.com",
		},
		"another port": {
			Observation{Published: Published{Port: 8080}, Ingress: plain},
			"http://a.example.com:8080",
		},
		"a load balancer with TLS": {
			Observation{Published: Published{Scheme: "https"}, Ingress: plain},
			"https://a.example.com",
		},
		"a scheme against certificates": {
			Observation{Published: Published{Scheme: "http", Port: 80}, Ingress: certified()},
			"http://a.example.com",
		},
		"the default port of the other": {
			Observation{Published: Published{Scheme: "http", Port: 443}, Ingress: plain},
			"http://a.example.com:443",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := test.observation.Published.Validate(); err != nil {
				t.Error(err)
			}
			test.observation.Darkroom, test.observation.Hosts = photos().Obj(), []string{"a.example.com", "b.example.com"}
			if got := Determine(test.observation).URL; got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestARouteIsJudgedByEachGatewayThatTheDarkroomNames(t *testing.T) {
	type attachment struct {
		acceptance gateway.Acceptance
		message    string
	}
	type parents = []gatewayv1.RouteParentStatus
	awaited := attachment{gateway.Awaiting, awaitedWords}
	bare := notAccepted
	bare.Reason, bare.Message = "NoMatchingParent", ""
	service := says("public", accepted, resolved)
	service.ParentRef.Kind = ptr.To[gatewayv1.Kind]("Service")
	for name, test := range map[string]struct {
		refs    []v1alpha1.ParentRef // the Gateway public unless set
		parents parents
		want    attachment
	}{
		"no status":                {nil, nil, awaited},
		"accepted":                 {nil, parents{says("public", accepted, resolved)}, attachment{}},
		"accepted before a change": {nil, parents{says("public", of(2, accepted), resolved)}, awaited},
		"resolved before a change": {nil, parents{says("public", accepted, of(2, resolved))}, awaited},
		"refused": {
			nil,
			parents{says("public", resolved, notAccepted)},
			attachment{gateway.Refused, refusedWords},
		},
		"refused without a message": {
			nil,
			parents{says("public", bare)},
			attachment{gateway.Refused, "Gateway team-a/public does not accept the HTTPRoute: NoMatchingParent."},
		},
		"a Gateway of that name in another namespace accepts it": {
			nil,
			parents{at(says("public", accepted, resolved), "gateways", "")},
			awaited,
		},
		"only one listener accepts it, but the spec names the whole Gateway": {
			nil,
			parents{at(says("public", accepted, resolved), "", "http")},
			awaited,
		},
		"a Service of that name accepts it": {nil, parents{service}, awaited},
		"a listener of a Gateway in another namespace is awaited": {
			[]v1alpha1.ParentRef{{Name: "public", Namespace: "gateways", SectionName: "https"}},
			nil,
			attachment{gateway.Awaiting, strings.Replace(awaitedWords, "Gateway team-a/public",
				"Listener https of Gateway gateways/public", 1)},
		},
		"a ListenerSet of another namespace accepts it": {
			[]v1alpha1.ParentRef{{Kind: "ListenerSet", Name: "public", Namespace: "gateways"}},
			parents{listenerSet("gateways")},
			attachment{},
		},
		"a Gateway of the name of the ListenerSet accepts it": {
			[]v1alpha1.ParentRef{{Kind: "ListenerSet", Name: "public"}},
			parents{says("public", accepted, resolved)},
			attachment{gateway.Awaiting, strings.ReplaceAll(awaitedWords, "Gateway", "ListenerSet")},
		},
		"a ListenerSet of the name of the Gateway accepts it": {nil, parents{listenerSet("team-a")}, awaited},
		"of two Gateways, the one that refuses is named": {
			[]v1alpha1.ParentRef{{Name: "absent"}, {Name: "internal"}, {Name: "public"}},
			parents{says("internal", accepted, unresolved), says("public", notAccepted)},
			attachment{gateway.Refused, refusedWords},
		},
		"of two awaited Gateways, the first is named": {
			[]v1alpha1.ParentRef{{Name: "public"}, {Name: "absent"}}, nil, awaited,
		},
		"a former controller refuses it, the current one accepts it": {
			nil, parents{says("public", notAccepted), says("public", accepted, resolved)}, attachment{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			darkroom := photos().Gateway("public").Obj()
			if test.refs != nil {
				darkroom.Spec.Gateway.ParentRefs = test.refs
			}
			acceptance, message := attachmentOf(darkroom, route([]string{host}, test.parents...))
			if got := (attachment{acceptance, message}); got != test.want {
				t.Errorf("got %+v\nwant %+v", got, test.want)
			}
		})
	}
}

// listenerSet returns the status of the ListenerSet public of a namespace, which accepts the route.
func listenerSet(namespace string) gatewayv1.RouteParentStatus {
	status := at(says("public", accepted, resolved), namespace, "")
	status.ParentRef.Kind = ptr.To[gatewayv1.Kind](gateway.KindListenerSet)
	return status
}

func TestOnlyARefusedHostIsAConflict(t *testing.T) {
	for reason, want := range map[string]string{
		"": "", v1alpha1.ReasonNotRouted: "",
		v1alpha1.ReasonDomainConflict: "said",
	} {
		var status v1alpha1.DarkroomStatus
		if reason != "" {
			status.Conditions = []v1alpha1.Condition{{Type: v1alpha1.ConditionDomainsReady, Reason: reason, Message: "said"}}
		}
		if got := conflictOf(status); got != want {
			t.Errorf("%q: got %q, want %q", reason, got, want)
		}
	}
}

func refusedBy(host, namespace, name string) hosts.Refusal {
	return hosts.Refusal{Host: host, Holder: types.NamespacedName{Namespace: namespace, Name: name}}
}

func TestTheConflictOfARefusedHostDisclosesNothingAboutOtherTenants(t *testing.T) {
	darkroom := darkrooms.New("photos", "team-a").SubDomains("a", "b").Obj()
	report := Determine(Observation{
		Darkroom: darkroom,
		Hosts:    []string{"a.example.com", "b.example.com"},
		Refused: []hosts.Refusal{
			refusedBy("a.example.com", "team-a", "mine"),
			refusedBy("b.example.com", "team-b", "theirs"),
		},
	})
	condition := v1alpha1.FindCondition(report.Conditions, v1alpha1.ConditionDomainsReady)
	if condition.Status != metav1.ConditionFalse || condition.Reason != v1alpha1.ReasonDomainConflict {
		t.Fatalf("got condition %+v", condition)
	}
	for _, want := range []string{"a.example.com", "b.example.com", "team-a/mine"} {
		if !strings.Contains(condition.Message, want) {
			t.Errorf("%q does not name %s", condition.Message, want)
		}
	}
	for _, leak := range []string{"team-b", "theirs"} {
		if strings.Contains(condition.Message, leak) {
			t.Errorf("%q names another tenant", condition.Message)
		}
	}
}
