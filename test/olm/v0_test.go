//go:build e2e

package olm

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	operatorsv1 "github.com/operator-framework/api/pkg/operators/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// TestVersion0 is the life of the operator under version 0, step by step: each step
// needs the one before.
func TestVersion0(t *testing.T) {
	startVersion0(t)
	pointCatalogSource(t, serveCatalog(t, "first", firstCatalog(t)))

	for _, step := range []struct {
		name string
		test func(*testing.T)
	}{
		{"InstallsForAllNamespaces", installsForAllNamespaces},
		{"InstallsForItsOwnNamespace", installsForItsOwnNamespace},
		{"InstallsForASingleNamespace", installsForASingleNamespace},
		{"InstallsForSeveralNamespaces", installsForSeveralNamespaces},
		{"UpgradesAndLeavesDarkroomsAlone", upgrades},
		{"LeavesDarkroomsWhenItIsRemoved", leavesDarkrooms},
	} {
		if !t.Run(step.name, step.test) {
			return
		}
	}
}

func installsForAllNamespaces(t *testing.T) {
	subscribe(t, globalNamespace, firstCSV)
	runsAsPod(t, globalNamespace, firstVersion)
	waitServing(t, newDarkroom(t, newNamespace(t, "everywhere"), "photos"), baseDomain)

	emptyNamespace(t, "everywhere")
	unsubscribe(t, globalNamespace, firstCSV)
	leavesNothing(t)
}

func installsForItsOwnNamespace(t *testing.T) {
	watchesOnly(t, "own", "own")
}

func installsForASingleNamespace(t *testing.T) {
	watchesOnly(t, "single", "single-target")
}

func installsForSeveralNamespaces(t *testing.T) {
	watchesOnly(t, "multi", "multi-one", "multi-two")
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
	subscribe(t, namespace, firstCSV)
	runsAsPod(t, namespace, firstVersion)
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
	unsubscribe(t, namespace, firstCSV)
	remove(t, group)
	leavesNothing(t)
}

func upgrades(t *testing.T) {
	subscribe(t, globalNamespace, firstCSV)
	photos := newDarkroom(t, newNamespace(t, "upgraded"), "photos")
	waitServing(t, photos, baseDomain)
	before := podUIDs(t, "upgraded")

	pointCatalogSource(t, serveCatalog(t, "second", secondCatalog(t)))
	waitSucceeded(t, globalNamespace, secondCSV)
	runsAsPod(t, globalNamespace, secondVersion)
	waitServing(t, photos, baseDomain)
	if after := podUIDs(t, "upgraded"); !slices.Equal(before, after) {
		t.Errorf("the pods were %q, and are %q", before, after)
	}

	// The new operator works.
	patch := client.MergeFrom(photos.DeepCopy())
	photos.Spec.Replicas = ptr.To(int32(2))
	if err := kube.Patch(t.Context(), photos, patch); err != nil {
		t.Fatal(err)
	}
	waitServing(t, photos, baseDomain)
	if after := podUIDs(t, "upgraded"); len(after) != 2 || !slices.Contains(after, before[0]) {
		t.Errorf("of the pods %q there are now %q", before, after)
	}
}

// leavesDarkrooms removes the operator first, though docs/install.md says to delete the
// Darkrooms first, and then follows what it says for this case.
func leavesDarkrooms(t *testing.T) {
	before := podUIDs(t, "upgraded")
	unsubscribe(t, globalNamespace, secondCSV)
	leavesNothing(t)
	photos := &v1alpha1.Darkroom{}
	if err := kube.Get(t.Context(), client.ObjectKey{Namespace: "upgraded", Name: "photos"}, photos); err != nil {
		t.Fatal(err)
	}
	waitServing(t, photos, baseDomain)
	if after := podUIDs(t, "upgraded"); !slices.Equal(before, after) {
		t.Errorf("the pods were %q, and are %q", before, after)
	}

	// Nobody lets go of it any more; what belongs to it goes with it.
	patch := client.MergeFrom(photos.DeepCopy())
	photos.Finalizers = nil
	if err := kube.Patch(t.Context(), photos, patch); err != nil {
		t.Fatal(err)
	}
	remove(t, photos)
	waitEmpty(t, "upgraded")
	removeDefinition(t)
}
