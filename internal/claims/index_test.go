package claims

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// A user can make any number of routes whose Darkroom no operator handles. They wake nobody.
func TestARouteThatAnotherInstallationHandlesConcernsNobodyUnlessItWasAssignedTheHost(t *testing.T) {
	w, older, younger := newPair(t)
	w.reconcile(younger, "done", func() {})
	w.claim(younger)
	w.claim(older, hostsOfTests[0])
	w.syncRoutes(nil)
	route := w.live[idOf(routeOf(younger), younger)]
	w.ledger.Handles = func(d *v1alpha1.Darkroom) bool { return client.ObjectKeyFromObject(d) != younger }
	for name, test := range map[string]struct {
		change func(*v1alpha1.Darkroom)
		want   []types.NamespacedName
	}{
		"the user wrote it there": {func(d *v1alpha1.Darkroom) { d.Status.Domains = nil }, nil},
		"it was assigned": {
			func(d *v1alpha1.Darkroom) { d.Status.Domains = hostsOfTests[:1] },
			[]types.NamespacedName{older},
		},
		"its Darkroom is not that": {func(d *v1alpha1.Darkroom) { d.UID = "another" }, []types.NamespacedName{older}},
	} {
		darkroom := w.live.darkroom(younger)
		test.change(darkroom)
		cached := store{idOf(darkroom, older): w.live.darkroom(older), idOf(darkroom, younger): darkroom}
		w.ledger.Darkrooms = cached
		if got, err := w.ledger.Rivals(t.Context(), route); err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%s: it concerns %v (%v), want %v", name, got, err, test.want)
		}
	}
}
