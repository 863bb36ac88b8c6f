package outcome

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

// made returns a Darkroom that wants some sub-domains.
func made(namespace string, subDomains ...string) *v1alpha1.Darkroom {
	return &v1alpha1.Darkroom{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "photos"},
		Spec:       v1alpha1.DarkroomSpec{SubDomains: subDomains},
	}
}

func TestTheHolderOfAHostKeepsIt(t *testing.T) {
	darkroom := types.NamespacedName{Namespace: "b", Name: "photos"}
	other := types.NamespacedName{Namespace: "a", Name: "photos"}
	const held = "host cats is held by another Darkroom, which keeps it"
	for name, c := range map[string]struct {
		holder        Holder
		want, warning string
	}{
		"no Lease":                      {Holder{Known: true}, hostFree, ""},
		"its own Lease":                 {Holder{Known: true, Darkroom: &darkroom}, hostOwn, ""},
		"the Lease of another Darkroom": {Holder{Known: true, Darkroom: &other}, hostTaken, held},
		"the Lease of another program":  {Holder{Known: true, Darkroom: &types.NamespacedName{}}, hostTaken, held},
		"a Lease that cannot be read":   {Holder{}, hostUnknown, "cannot determine which Darkroom holds host cats"},
	} {
		got := Host("cats", c.holder, darkroom)
		expect.Equal(t, name, HostOutcome{Host: "cats", State: c.want}, got)
		expect.Equal(t, name+": the warning", c.warning, got.Warning())
	}
}

func TestAChangedSpecGetsTheBaseDomainOfTheOperator(t *testing.T) {
	of := func(darkroom *v1alpha1.Darkroom) []string {
		base := darkroom.Status.BaseDomain
		if base == "" {
			base = "new.example.com"
		}
		return []string{darkroom.Spec.SubDomains[0] + "." + base}
	}
	kept := made("b", "cats")
	kept.Status.BaseDomain = "old.example.com"
	changed := kept.DeepCopy()
	changed.Spec.Version = "1.0.0"
	for name, c := range map[string]struct {
		change Change
		want   string
	}{
		"unchanged": {Change{Before: kept, After: kept.DeepCopy()}, "cats.old.example.com"},
		"changed":   {Change{Before: kept, After: changed}, "cats.new.example.com"},
		"new":       {Change{After: changed}, "cats.new.example.com"},
	} {
		expect.Equal(t, name, []string{c.want}, c.change.Hosts(of))
	}
}
