package outcome

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

// made returns a Darkroom that wants sub-domains.
func made(namespace string, subDomains ...string) *v1alpha1.Darkroom {
	return &v1alpha1.Darkroom{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "photos"},
		Spec:       v1alpha1.DarkroomSpec{SubDomains: subDomains},
	}
}

// serving returns a Darkroom that has the hosts of its sub-domains.
func serving(namespace string, subDomains ...string) *v1alpha1.Darkroom {
	darkroom := made(namespace, subDomains...)
	darkroom.Status.Domains = subDomains
	return darkroom
}

func subDomains(darkroom *v1alpha1.Darkroom) []string { return darkroom.Spec.SubDomains }

func TestWhoGetsAHost(t *testing.T) {
	leaving := serving("c", "cats")
	leaving.DeletionTimestamp = &metav1.Time{}
	of := func(installation string, darkroom *v1alpha1.Darkroom) *v1alpha1.Darkroom {
		darkroom.Annotations = map[string]string{v1alpha1.AnnotationInstallation: installation}
		return darkroom
	}
	for name, c := range map[string]struct {
		before *v1alpha1.Darkroom
		others []*v1alpha1.Darkroom
		want   string
		keeper string
	}{
		"no one has it":                   {want: hostFree},
		"others have others":              {others: []*v1alpha1.Darkroom{serving("a", "dogs")}, want: hostFree},
		"another only wants it":           {others: []*v1alpha1.Darkroom{made("a", "cats")}, want: hostFree},
		"another has it":                  {others: []*v1alpha1.Darkroom{serving("z", "cats")}, want: hostTaken, keeper: "z"},
		"it has it already":               {before: serving("b", "cats"), want: hostOwn},
		"it adds one that is free":        {before: serving("b", "dogs"), want: hostFree},
		"it adds one that another has":    {before: made("b"), others: []*v1alpha1.Darkroom{serving("c", "cats")}, want: hostTaken, keeper: "c"},
		"one that is deleted gives it up": {others: []*v1alpha1.Darkroom{leaving}, want: hostFree},
		"another installation's host": {
			before: of("a", serving("b", "cats")),
			others: []*v1alpha1.Darkroom{of("b", serving("c", "cats"))}, want: hostOwn,
		},
		"the own installation's host": {
			before: of("a", made("b", "cats")),
			others: []*v1alpha1.Darkroom{of("a", serving("c", "cats"))}, want: hostTaken, keeper: "c",
		},
	} {
		change := &Change{Before: c.before, Wanted: made("b", "cats")}
		if c.before != nil {
			change.Wanted.Annotations = c.before.Annotations
		}
		hosts, keepers := change.Hosts(append(c.others, made("b", "cats")), subDomains)
		expect.Equal(t, name, []HostOutcome{{Host: "cats", State: c.want}}, hosts)
		keeper := ""
		if keepers["cats"] != nil {
			keeper = keepers["cats"].Namespace
		}
		expect.Equal(t, name+": the keeper", c.keeper, keeper)
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
		want   HostOutcome
	}{
		"unchanged": {
			Change{Before: kept, Wanted: kept.DeepCopy()},
			HostOutcome{Host: "cats.old.example.com", State: hostOwn},
		},
		"changed": {Change{Before: kept, Wanted: changed}, HostOutcome{Host: "cats.new.example.com", State: hostFree}},
		"new":     {Change{Wanted: changed}, HostOutcome{Host: "cats.new.example.com", State: hostFree}},
	} {
		hosts, _ := c.change.Hosts(nil, of)
		expect.Equal(t, name, []HostOutcome{c.want}, hosts)
	}
}
