package claims

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func key(namespace, name string) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: name}
}

func at(second int) metav1.Time {
	return metav1.NewTime(time.Date(2026, 1, 1, 0, 0, second, 0, time.UTC))
}

func TestTheOldestClaimComesFirst(t *testing.T) {
	for _, test := range []struct {
		why         string
		first, then claimant
	}{
		{"the older one", claimant{key("z", "z"), at(1)}, claimant{key("a", "a"), at(2)}},
		{"of one age: the namespace", claimant{key("a", "z"), at(1)}, claimant{key("b", "a"), at(1)}},
		{"of one age and namespace: the name", claimant{key("a", "a"), at(1)}, claimant{key("a", "b"), at(1)}},
		{"names are compared one by one, not joined", claimant{key("a", "z"), at(1)}, claimant{key("a-b", "a"), at(1)}},
	} {
		if !test.first.before(test.then) || test.then.before(test.first) {
			t.Errorf("%s: %v does not come before %v", test.why, test.first, test.then)
		}
	}
	if same := (claimant{key("a", "a"), at(1)}); same.before(same) {
		t.Error("a claim comes before itself")
	}
}

func TestAHostIsDecided(t *testing.T) {
	old, me, young := claimant{key("a", "old"), at(1)}, claimant{key("b", "me"), at(2)}, claimant{key("a", "young"), at(3)}
	routed := func(c claimant, known bool) carrier { return carrier{claimant: c, known: known, assigned: true} }
	ref := func(c claimant) *types.NamespacedName { return &c.NamespacedName }

	for _, test := range []struct {
		why  string
		view view
		want Refusal // none if empty
	}{
		{"no other claimant", view{claimants: []claimant{me}}, Refusal{}},
		{"the cache does not show my own claim yet", view{}, Refusal{}},
		{"a younger one wants it too", view{claimants: []claimant{me, young}}, Refusal{}},
		{"an older one wants it", view{claimants: []claimant{me, young, old}}, Refusal{Owner: old.NamespacedName}},
		{
			"an older one wants it, and I am routed there: I let go",
			view{claimants: []claimant{me, old}, routed: true, holder: ref(me)},
			Refusal{Owner: old.NamespacedName},
		},
		{
			"a younger one is routed there: it goes first",
			view{claimants: []claimant{me, young}, carriers: []carrier{routed(young, true)}},
			Refusal{Owner: young.NamespacedName, Leaving: true},
		},
		{
			"a younger one was given it, and the caches do not show it yet",
			view{claimants: []claimant{me, young}, holder: ref(young)},
			Refusal{Owner: young.NamespacedName, Leaving: true},
		},
		{
			"one that claims it no more is still routed there",
			view{claimants: []claimant{me}, carriers: []carrier{routed(old, true)}},
			Refusal{Owner: old.NamespacedName, Leaving: true},
		},
		{
			"both are routed there, as before there were claims: the younger one goes, and I stay",
			view{claimants: []claimant{me, young}, routed: true, carriers: []carrier{routed(young, true)}},
			Refusal{},
		},
		{
			"a Darkroom of another operator is routed there: who comes first stays",
			view{claimants: []claimant{me}, carriers: []carrier{routed(young, false)}},
			Refusal{Owner: young.NamespacedName},
		},
		{
			"I and a Darkroom of another operator are routed there, I for longer",
			view{claimants: []claimant{me}, routed: true, carriers: []carrier{routed(young, false)}},
			Refusal{},
		},
		{
			"I and a Darkroom of another operator are routed there, that one for longer",
			view{claimants: []claimant{me}, routed: true, carriers: []carrier{routed(old, false)}},
			Refusal{Owner: old.NamespacedName},
		},
		{
			"a Darkroom of another operator is routed there, of the same age: the order of names decides, on both sides",
			view{
				claimants: []claimant{me}, routed: true,
				carriers: []carrier{routed(claimant{key("c", "twin"), me.created}, false)},
			},
			Refusal{},
		},
		{"it was given to me", view{claimants: []claimant{me}, holder: ref(me)}, Refusal{}},
		{
			"it was given to me, the caches do not show it yet, and a route of another one appears: I stay",
			view{claimants: []claimant{me}, holder: ref(me), carriers: []carrier{routed(old, true)}},
			Refusal{},
		},
	} {
		t.Run(test.why, func(t *testing.T) {
			if test.want.Owner.Name != "" {
				test.want.Host = "photos.example.com"
				test.view.host = test.want.Host
			}
			got, refused := decide(me, test.view)
			if got != test.want || refused != (test.want.Host != "") {
				t.Errorf("got %+v, %v, want %+v", got, refused, test.want)
			}
		})
	}
}
