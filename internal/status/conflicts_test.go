package status

import (
	"strings"
	"testing"

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
