package status

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/gateway"
)

func TestARouteIsJudgedByEachGatewayThatTheDarkroomNames(t *testing.T) {
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
			if got := attachmentOf(darkroom, route([]string{host}, test.parents...)); got != test.want {
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
			if got := attachmentOf(darkroom, route([]string{host}, says("public", stale(accepted, resolved)...))); got.verdict != want {
				t.Errorf("a condition of generation %d of a route of generation 3: got %v, want %v", generation, got.verdict, want)
			}
		}
	}
}
