package controller_test

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/status"
)

// isDeployed expects that the Helm controller reports a deployed release.
func isDeployed(status v1alpha1.DarkroomStatus) error {
	deployed := v1alpha1.FindCondition(status.Conditions, v1alpha1.ConditionDeployed)
	if deployed == nil || deployed.Status != metav1.ConditionTrue || status.DeployedRelease == nil {
		return fmt.Errorf("got release %+v and condition Deployed %+v", status.DeployedRelease, deployed)
	}
	return nil
}

// Other clients may replace the status, for example to restore a backup.
func TestAStatusThatIsLostIsReportedAgain(t *testing.T) {
	t.Parallel()
	_, darkroom := startWithPhotos(t)
	becomeReady(t, darkroom.Namespace, darkroom.Name)
	eventuallyStatus(t, darkroom, "ready", isReady(), isDeployed)

	now := mustGet(t, &v1alpha1.Darkroom{}, darkroom.Namespace, darkroom.Name)
	now.Status = v1alpha1.DarkroomStatus{}
	if err := kube.Status().Update(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	eventuallyStatus(t, darkroom, "ready again", isReady(), isDeployed)
}

// An operator that wrote the whole status as one field manager is upgraded to one with two field managers.
func TestAStatusOfOneFieldManagerIsTakenOver(t *testing.T) {
	t.Parallel()
	earlier, darkroom := startWithPhotos(t)
	becomeReady(t, darkroom.Namespace, darkroom.Name)
	eventuallyStatus(t, darkroom, "ready", isReady(), isDeployed)
	earlier.kill()
	now := mustGet(t, &v1alpha1.Darkroom{}, darkroom.Namespace, darkroom.Name)
	writeStatusAs(t, status.FieldManager, darkroom, &now.Status)
	writeStatusAs(t, status.HelmFieldManager, darkroom, nil)

	startOperator(t, darkroom.Namespace)
	upgrade(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.Source.BaseURL = "https://example.com/others" })
	becomeReady(t, darkroom.Namespace, darkroom.Name)
	eventuallyStatus(t, darkroom, "ready after the upgrade", isReady(), isDeployed)
}

// writeStatusAs makes a field manager own the whole status or none of it.
func writeStatusAs(t *testing.T, manager string, darkroom *v1alpha1.Darkroom, all *v1alpha1.DarkroomStatus) {
	t.Helper()
	fields := map[string]any{}
	if all != nil {
		var err error
		if fields, err = runtime.DefaultUnstructuredConverter.ToUnstructured(all); err != nil {
			t.Fatal(err)
		}
	}
	out := &unstructured.Unstructured{Object: map[string]any{"status": fields}}
	out.SetGroupVersionKind(v1alpha1.GroupVersionKind)
	out.SetNamespace(darkroom.Namespace)
	out.SetName(darkroom.Name)
	err := kube.Status().Apply(t.Context(), client.ApplyConfigurationFromUnstructured(out),
		client.FieldOwner(manager), client.ForceOwnership)
	if err != nil {
		t.Fatal(err)
	}
}
