//go:build e2e

package olm

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	operatorsv1 "github.com/operator-framework/api/pkg/operators/v1"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
	"github.com/darkroom-operator/darkroom-operator/test/docs"
)

// TestVersion0 tests the lifecycle of the operator under version 0; each step needs the previous one.
func TestVersion0(t *testing.T) {
	removeAfterFailure(t)
	startVersion0(t)
	previous, this := serveCatalog(t, previousVersion), serveCatalog(t, previousVersion, thisVersion)

	for _, step := range []struct {
		name string
		test func(*testing.T)
	}{
		{"UpgradesAndLeavesDarkroomsAlone", func(t *testing.T) { upgrades(t, previous, this) }},
		{"LeavesDarkroomsWhenItIsRemoved", leavesDarkrooms},
		{"GoesBackToTheEarlierRelease", func(t *testing.T) { goesBack(t, previous, this) }},
		{"InstallsForSeveralNamespaces", installsForSeveralNamespaces},
		{"DoesWhatTheDocumentsSay", followsDocuments},
	} {
		if !t.Run(step.name, step.test) {
			return
		}
	}
}

// installsForSeveralNamespaces checks that the operator serves the namespaces for which it is installed, has no
// permissions in another namespace, and changes nothing there. For its own namespace, or a single other one, OLM
// creates the same objects.
func installsForSeveralNamespaces(t *testing.T) {
	namespace, targets := newNamespace(t, "multi"), []string{newNamespace(t, "multi-one"), newNamespace(t, "multi-two")}
	outside := newNamespace(t, "multi-outside")
	ignored := newDarkroom(t, outside, "ignored")
	create(t, &operatorsv1.OperatorGroup{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "darkroom"},
		Spec:       operatorsv1.OperatorGroupSpec{TargetNamespaces: targets},
	})
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
	must(t, kube.Get(t.Context(), client.ObjectKeyFromObject(ignored), ignored))
	if len(ignored.Finalizers) > 0 || ignored.Status.Phase != "" {
		t.Errorf("the Darkroom in another namespace was changed: %q %q", ignored.Finalizers, ignored.Status.Phase)
	}

	for _, name := range append(targets, outside) {
		emptyNamespace(t, name)
	}
	unsubscribe(t, namespace, csv(thisVersion))
	remove(t, namespace, "operatorgroup", "darkroom")
	leavesNothing(t)
	// Users who follow the documents start without it.
	removeDefinition(t)
}

// upgrades upgrades from the earlier release, built from its own source, to this one.
func upgrades(t *testing.T, previous, this string) {
	pointCatalogSource(t, previous)
	subscribe(t, globalNamespace, csv(previousVersion))
	runsAsPod(t, globalNamespace, previousVersion)
	photos := newDarkroom(t, newNamespace(t, "upgraded"), "photos")
	waitServing(t, photos, baseDomain)
	before := darkroomPods(t, photos)

	pointCatalogSource(t, this)
	waitSucceeded(t, globalNamespace, csv(thisVersion))
	runsAsPod(t, globalNamespace, thisVersion)
	worksOn(t, photos, baseDomain, before)
}

// leavesDarkrooms removes the operator first, although docs/install.md recommends deleting the Darkrooms first.
func leavesDarkrooms(t *testing.T) {
	photos := darkrooms.New("photos", "upgraded").Obj()
	waitServing(t, photos, baseDomain)
	before := darkroomPods(t, photos)
	unsubscribe(t, globalNamespace, csv(thisVersion))
	leavesNothing(t)
	waitServing(t, photos, baseDomain)
	if after := darkroomPods(t, photos); !slices.Equal(before, after) {
		t.Errorf("the pods were %q and are %q", before, after)
	}
}

// goesBack installs the earlier release after this one was removed, as described in docs/install.md. In the catalog of
// that release alone, it is the newest; in a catalog with others, startingCSV would select it.
func goesBack(t *testing.T, previous, this string) {
	photos := darkrooms.New("photos", "upgraded").Obj()
	waitServing(t, photos, baseDomain)
	before := darkroomPods(t, photos)
	pointCatalogSource(t, previous)
	subscribe(t, globalNamespace, csv(previousVersion))
	runsAsPod(t, globalNamespace, previousVersion)
	worksOn(t, photos, baseDomain, before)
	unsubscribe(t, globalNamespace, csv(previousVersion))
	pointCatalogSource(t, this)

	// No operator removes the finalizer any more; docs/install.md describes this case.
	mustRun(t, "kubectl", "patch", "darkroom", photos.Name, "--namespace", photos.Namespace, "--type=merge",
		`--patch={"metadata":{"finalizers":null}}`)
	emptyNamespace(t, photos.Namespace)
	waitEmpty(t, "upgraded")
}

// followsDocuments is the last step of version 0. Here the node pulls the images of catalog and bundle, and the
// lifecycle manager runs the catalog and unpacks the bundle.
func followsDocuments(t *testing.T) {
	remove(t, lifecycleNamespace, "catalogsource", catalogSource)
	installsFromTheMirror(t, startRegistry(t), docs.OLM0)
}
