//go:build e2e

package olm

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	operatorsv1 "github.com/operator-framework/api/pkg/operators/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// TestVersion0 is the life of the operator under version 0, step by step: each step
// needs the one before.
func TestVersion0(t *testing.T) {
	startVersion0(t)
	pointCatalogSource(t, serveCatalog(t, "previous", catalogOf(t, withBundles(t), previousVersion)))

	for _, step := range []struct {
		name string
		test func(*testing.T)
	}{
		{"UpgradesAndLeavesDarkroomsAlone", upgrades},
		{"LeavesDarkroomsWhenItIsRemoved", leavesDarkrooms},
		{"GoesBackToTheEarlierRelease", goesBack},
		{"InstallsForSeveralNamespaces", installsForSeveralNamespaces},
		{"DoesWhatTheDocumentsSay", followsDocuments},
	} {
		if !t.Run(step.name, step.test) {
			return
		}
	}
}

// Of its own namespace, or a single other one, OLM makes the same objects.
func installsForSeveralNamespaces(t *testing.T) {
	watchesOnly(t, "multi", "multi-one", "multi-two")
	// Users who follow the documents start without it.
	removeDefinition(t)
}

// watchesOnly installs the operator for some namespaces, and checks that it serves those,
// has no rights in another one, and touches nothing there.
func watchesOnly(t *testing.T, namespace string, targets ...string) {
	outside := newNamespace(t, namespace+"-outside")
	ignored := newDarkroom(t, outside, "ignored")
	for _, name := range append([]string{namespace}, targets...) {
		if err := ensure(t.Context(), namespaceObject(name)); err != nil {
			t.Fatal(err)
		}
	}
	group := &operatorsv1.OperatorGroup{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "darkroom"},
		Spec:       operatorsv1.OperatorGroupSpec{TargetNamespaces: targets},
	}
	create(t, group)
	subscribe(t, namespace, csv(thisVersion))
	runsAsPod(t, namespace, thisVersion)
	for _, target := range targets {
		waitServing(t, newDarkroom(t, target, "photos"), baseDomain)
		if !may(t, namespace, target) {
			t.Errorf("it may not read the Secrets of %s", target)
		}
	}
	if may(t, namespace, outside) {
		t.Errorf("it may read the Secrets of %s", outside)
	}
	if err := kube.Get(t.Context(), client.ObjectKeyFromObject(ignored), ignored); err != nil {
		t.Fatal(err)
	}
	if len(ignored.Finalizers) > 0 || ignored.Status.Phase != "" {
		t.Errorf("the Darkroom outside was touched: %q %q", ignored.Finalizers, ignored.Status.Phase)
	}

	for _, target := range targets {
		emptyNamespace(t, target)
	}
	remove(t, ignored)
	unsubscribe(t, namespace, csv(thisVersion))
	remove(t, group)
	leavesNothing(t)
}

// upgrades comes from the earlier release, made of its own source, to this one.
func upgrades(t *testing.T) {
	subscribe(t, globalNamespace, csv(previousVersion))
	runsAsPod(t, globalNamespace, previousVersion)
	photos := newDarkroom(t, newNamespace(t, "upgraded"), "photos")
	waitServing(t, photos, baseDomain)
	before := darkroomPods(t, photos)

	pointCatalogSource(t, serveCatalog(t, "this", catalogOf(t, withBundles(t), previousVersion, thisVersion)))
	waitSucceeded(t, globalNamespace, csv(thisVersion))
	runsAsPod(t, globalNamespace, thisVersion)
	worksOn(t, photos, baseDomain, before)
}

// leavesDarkrooms removes the operator first, though docs/install.md says to delete the
// Darkrooms first.
func leavesDarkrooms(t *testing.T) {
	photos := &v1alpha1.Darkroom{}
	if err := kube.Get(t.Context(), client.ObjectKey{Namespace: "upgraded", Name: "photos"}, photos); err != nil {
		t.Fatal(err)
	}
	before := darkroomPods(t, photos)
	unsubscribe(t, globalNamespace, csv(thisVersion))
	leavesNothing(t)
	waitServing(t, photos, baseDomain)
	if after := darkroomPods(t, photos); !slices.Equal(before, after) {
		t.Errorf("the pods were %q, and are %q", before, after)
	}
}

// goesBack installs the earlier release after this one was removed, as docs/install.md says.
// In the catalog of that release it is the newest; with others, startingCSV would name it.
func goesBack(t *testing.T) {
	photos := &v1alpha1.Darkroom{}
	if err := kube.Get(t.Context(), client.ObjectKey{Namespace: "upgraded", Name: "photos"}, photos); err != nil {
		t.Fatal(err)
	}
	before := darkroomPods(t, photos)
	pointCatalogSource(t, addressOfCatalog(t, "previous"))
	subscribe(t, globalNamespace, csv(previousVersion))
	runsAsPod(t, globalNamespace, previousVersion)
	worksOn(t, photos, baseDomain, before)
	unsubscribe(t, globalNamespace, csv(previousVersion))
	pointCatalogSource(t, addressOfCatalog(t, "this"))

	// No operator removes the finalizer any more; docs/install.md describes this case.
	patch := client.MergeFrom(photos.DeepCopy())
	photos.Finalizers = nil
	if err := kube.Patch(t.Context(), photos, patch); err != nil {
		t.Fatal(err)
	}
	remove(t, photos)
	waitEmpty(t, "upgraded")
}
