//go:build e2e

package olm

import (
	"context"
	"slices"
	"testing"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart/loader"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// movesToTheChart installs the operator by its chart beside the one that OLM installed,
// moves all Darkrooms to the chart's as docs/install.md says, and removes that of OLM.
func movesToTheChart(t *testing.T) {
	configuration := helmConfiguration(t)
	chart, err := loader.Load(operatorsChart(repository))
	if err != nil {
		t.Fatal(err)
	}
	values := chartValues(thisVersion)
	values["crds"] = map[string]any{"install": false}
	// The settings of the bundle, so that the pods of Darkrooms have the same template.
	values["darkroomImage"] = darkroomImage
	install := action.NewInstall(configuration)
	install.ReleaseName, install.Namespace, install.CreateNamespace, install.Wait, install.Timeout = packageName, installNamespace, true, true, waitTimeout
	if _, err := install.RunWithContext(t.Context(), chart, values); err != nil {
		t.Fatalf("helm install: %v: %s", err, podsOf(context.Background(), installNamespace))
	}
	namespace := newNamespace(t, "moved")
	ours := newDarkroom(t, "everywhere", "album", annotated(globalNamespace))
	theirs := newDarkroom(t, namespace, "photos", annotated(installNamespace))
	for _, darkroom := range []*v1alpha1.Darkroom{ours, theirs} {
		waitServing(t, darkroom, baseDomain)
	}
	before := slices.Concat(podUIDs(t, "everywhere"), podUIDs(t, namespace))
	handled := handledBy(t)
	if len(handled) != 2 || len(handled[globalNamespace]) != 2 || len(handled[installNamespace]) != 1 {
		t.Errorf("the Darkrooms of each installation are %v", handled)
	}

	_, err = run(t.Context(), "kubectl", "annotate", "darkrooms", "--all", "--all-namespaces", "--overwrite",
		v1alpha1.AnnotationInstallation+"="+installNamespace)
	if err != nil {
		t.Fatal(err)
	}
	unsubscribe(t, globalNamespace, csv(thisVersion))
	// Only the chart's operator is left to do this.
	pods := worksOn(t, ours, baseDomain, darkroomPods(t, ours))
	worksOn(t, theirs, baseDomain, darkroomPods(t, theirs))
	after := slices.Concat(podUIDs(t, "everywhere"), podUIDs(t, namespace))
	for _, pod := range before {
		if !slices.Contains(after, pod) {
			t.Errorf("of the pods %q there are now %q", before, after)
		}
	}
	if len(after) != len(before)+2 || len(pods) != 2 {
		t.Errorf("%d pods have become %d", len(before), len(after))
	}

	emptyNamespace(t, "everywhere")
	emptyNamespace(t, namespace)
	uninstall := action.NewUninstall(configuration)
	uninstall.Wait, uninstall.Timeout = true, waitTimeout
	if _, err := uninstall.Run(packageName); err != nil {
		t.Fatalf("helm uninstall: %v", err)
	}
	leavesNothing(t)
	remove(t, namespaceObject(installNamespace))
}

// annotated gives a Darkroom to an installation of the operator.
func annotated(installation string) func(*v1alpha1.Darkroom) {
	return func(darkroom *v1alpha1.Darkroom) {
		darkroom.Annotations = map[string]string{v1alpha1.AnnotationInstallation: installation}
	}
}

// handledBy are all Darkrooms by the installation that handles them.
func handledBy(t *testing.T) map[string][]client.ObjectKey {
	t.Helper()
	list := &v1alpha1.DarkroomList{}
	if err := kube.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	handled := map[string][]client.ObjectKey{}
	for _, darkroom := range list.Items {
		installation := darkroom.Annotations[v1alpha1.AnnotationInstallation]
		handled[installation] = append(handled[installation], client.ObjectKeyFromObject(&darkroom))
	}
	return handled
}
