package controller_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/controller"
)

// atRest returns a Darkroom with the status that the Helm reconciler reports of its second
// revision, with changes.
func atRest(change func(*v1alpha1.Darkroom)) *v1alpha1.Darkroom {
	darkroom := webFolder("shop", "photos")
	darkroom.Generation, darkroom.Finalizers = 3, []string{"uninstall-helm-release"}
	darkroom.Status.DeployedRelease = &v1alpha1.DeployedRelease{Name: "photos"}
	for conditionType, status := range map[string]metav1.ConditionStatus{
		v1alpha1.ConditionInitialized:    metav1.ConditionTrue,
		v1alpha1.ConditionDeployed:       metav1.ConditionTrue,
		v1alpha1.ConditionIrreconcilable: metav1.ConditionFalse,
		v1alpha1.ConditionReleaseFailed:  metav1.ConditionFalse,
		v1alpha1.ConditionPaused:         metav1.ConditionFalse,
		v1alpha1.ConditionReady:          metav1.ConditionFalse,
	} {
		condition := v1alpha1.Condition{Type: conditionType, Status: status, ObservedGeneration: 3}
		if conditionType == v1alpha1.ConditionDeployed {
			condition.Reason = v1alpha1.ReasonUpgradeSuccessful
		}
		darkroom.Status.Conditions = append(darkroom.Status.Conditions, condition)
	}
	change(darkroom)
	return darkroom
}

func TestOnlyTheStatusOfAnUnchangedReleaseSparesTheHelmReconciler(t *testing.T) {
	t.Parallel()
	if got := controller.RestingReason(atRest(func(*v1alpha1.Darkroom) {})); got != v1alpha1.ReasonUpgradeSuccessful {
		t.Errorf("at rest: %q", got)
	}
	changes := map[string]func(*v1alpha1.Darkroom){
		"deleted":          func(d *v1alpha1.Darkroom) { d.DeletionTimestamp = &metav1.Time{} },
		"paused":           func(d *v1alpha1.Darkroom) { d.Annotations = map[string]string{v1alpha1.AnnotationPaused: "true"} },
		"no finalizer":     func(d *v1alpha1.Darkroom) { d.Finalizers = nil },
		"no release":       func(d *v1alpha1.Darkroom) { d.Status.DeployedRelease = nil },
		"another release":  func(d *v1alpha1.Darkroom) { d.Status.DeployedRelease.Name = "cats" },
		"a new generation": func(d *v1alpha1.Darkroom) { d.Generation++ },
		"no status":        func(d *v1alpha1.Darkroom) { d.Status = v1alpha1.DarkroomStatus{} },
	}
	for _, more := range []string{v1alpha1.ConditionContested, v1alpha1.ConditionPreflight} {
		changes[more] = func(d *v1alpha1.Darkroom) {
			d.Status.Conditions = append(d.Status.Conditions, v1alpha1.Condition{Type: more, Status: metav1.ConditionFalse, ObservedGeneration: 3})
		}
	}
	for _, one := range []string{
		v1alpha1.ConditionInitialized, v1alpha1.ConditionDeployed, v1alpha1.ConditionIrreconcilable,
		v1alpha1.ConditionReleaseFailed, v1alpha1.ConditionPaused,
	} {
		of := func(d *v1alpha1.Darkroom) *v1alpha1.Condition {
			return v1alpha1.FindCondition(d.Status.Conditions, one)
		}
		changes[one+" is unknown"] = func(d *v1alpha1.Darkroom) { of(d).Status = metav1.ConditionUnknown }
		changes[one+" is older"] = func(d *v1alpha1.Darkroom) { of(d).ObservedGeneration-- }
		changes[one+" is missing"] = func(d *v1alpha1.Darkroom) { of(d).Type = "Other" }
	}
	for name, change := range changes {
		if got := controller.RestingReason(atRest(change)); got != "" {
			t.Errorf("%s: at rest, by the reason %q", name, got)
		}
	}
}
