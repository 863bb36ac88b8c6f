package status

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/claims"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

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

func TestEventsReportLostAndGainedHosts(t *testing.T) {
	status := func(conflict string, domains ...string) v1alpha1.DarkroomStatus {
		s := v1alpha1.DarkroomStatus{Domains: domains}
		condition := v1alpha1.Condition{Type: v1alpha1.ConditionDomainsReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonRouted}
		if conflict != "" {
			condition = v1alpha1.Condition{
				Type: v1alpha1.ConditionDomainsReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonDomainConflict,
				Message: conflictMessage("team-a", []claims.Refusal{refusedBy(conflict, "team-b", "theirs")}),
			}
		}
		s.Conditions = []v1alpha1.Condition{condition}
		return s
	}
	hosts := []string{"a.example.com", "ba.example.com"}
	for _, test := range []struct {
		why           string
		before, after v1alpha1.DarkroomStatus
		want          []string
	}{
		{"nothing changes", status("", hosts...), status("", hosts...), nil},
		{"the conflict stays", status("a.example.com"), status("a.example.com", "ba.example.com"), nil},
		{"it never was routed", status(""), status("a.example.com"), []string{EventDomainConflict}},
		{"it was routed", status("", "a.example.com"), status("a.example.com"), []string{EventDomainLost}},
		{"another was routed, whose name contains it", status("", "ba.example.com"), status("a.example.com"), []string{EventDomainConflict}},
		{"it is free", status("a.example.com"), status(""), []string{EventDomainGained}},
		{"it is claimed no more", status("c.example.com"), status(""), nil},
		{"one for another", status("a.example.com"), status("ba.example.com"), []string{EventDomainConflict, EventDomainGained}},
	} {
		t.Run(test.why, func(t *testing.T) {
			var got []string
			for _, change := range domainChanges(test.before, test.after, hosts) {
				got = append(got, change.reason)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}
