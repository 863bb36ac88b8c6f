package outcome

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

// made returns a Darkroom of an age in seconds.
func made(namespace string, age int64, subDomains ...string) *v1alpha1.Darkroom {
	return &v1alpha1.Darkroom{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "photos", CreationTimestamp: metav1.Unix(1000-age, 0)},
		Spec:       v1alpha1.DarkroomSpec{SubDomains: subDomains},
	}
}

func subDomains(darkroom *v1alpha1.Darkroom) []string { return darkroom.Spec.SubDomains }

func TestWhoGetsAHost(t *testing.T) {
	leaving := made("c", 100, "cats")
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
		"no one has it":      {want: hostFree},
		"others have others": {others: []*v1alpha1.Darkroom{made("a", 5, "dogs")}, want: hostFree},
		"a new one comes last": {
			others: []*v1alpha1.Darkroom{made("z", 0, "cats")},
			want:   hostTaken, keeper: "z",
		},
		"it has it already":        {before: made("b", 5, "cats"), want: hostOwn},
		"it adds one that is free": {before: made("b", 5, "dogs"), want: hostFree},
		"it adds one of an older": {
			before: made("b", 5), others: []*v1alpha1.Darkroom{made("c", 6, "cats")},
			want: hostTaken, keeper: "c",
		},
		"it adds one of a younger": {
			before: made("b", 5),
			others: []*v1alpha1.Darkroom{made("a", 4, "cats")}, want: hostOwn,
		},
		"of one age the name decides": {
			before: made("b", 5), others: []*v1alpha1.Darkroom{made("a", 5, "cats")},
			want: hostTaken, keeper: "a",
		},
		"the oldest of several decides": {
			before: made("b", 5),
			others: []*v1alpha1.Darkroom{made("a", 4, "cats"), made("c", 6, "cats")}, want: hostTaken, keeper: "c",
		},
		"one that is deleted has no claim": {others: []*v1alpha1.Darkroom{leaving}, want: hostFree},
		"another installation's host": {
			before: of("a", made("b", 5, "cats")),
			others: []*v1alpha1.Darkroom{of("b", made("c", 6, "cats"))}, want: hostOwn,
		},
		"the own installation's host": {
			before: of("a", made("b", 5, "cats")),
			others: []*v1alpha1.Darkroom{of("a", made("c", 6, "cats"))}, want: hostTaken, keeper: "c",
		},
		"nobody has handled the other yet": {
			before: of("a", made("b", 5, "cats")),
			others: []*v1alpha1.Darkroom{made("c", 6, "cats")}, want: hostTaken, keeper: "c",
		},
	} {
		change := &Change{Before: c.before, Wanted: made("b", 0, "cats")}
		if c.before != nil {
			change.Wanted.Annotations = c.before.Annotations
		}
		hosts, keepers := change.Hosts(append(c.others, made("b", 5, "cats")), subDomains)
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
	kept := made("b", 5, "cats")
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
