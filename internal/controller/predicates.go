package controller

import (
	"maps"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release"
	"github.com/darkroom-operator/darkroom-operator/internal/release/storage"
)

// desiredChanged passes changes of the desired state of a Darkroom: its spec, annotations,
// labels and deletion. It ignores the status.
func desiredChanged() predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, after := e.ObjectOld, e.ObjectNew
			return before.GetGeneration() != after.GetGeneration() ||
				!maps.Equal(before.GetAnnotations(), after.GetAnnotations()) ||
				!maps.Equal(before.GetLabels(), after.GetLabels()) ||
				before.GetDeletionTimestamp().IsZero() != after.GetDeletionTimestamp().IsZero()
		},
		// The finalizer has handled a Darkroom that is gone.
		DeleteFunc: func(event.DeleteEvent) bool { return true },
	}
}

// helmReported passes reports of the Helm reconciler on a Darkroom.
func helmReported() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false },
		DeleteFunc: func(event.DeleteEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, wasDarkroom := e.ObjectOld.(*v1alpha1.Darkroom)
			after, isDarkroom := e.ObjectNew.(*v1alpha1.Darkroom)
			return wasDarkroom && isDarkroom && !equality.Semantic.DeepEqual(helmPart(before.Status), helmPart(after.Status))
		},
	}
}

// objectTouched passes objects of a release that were deleted or changed in more than their
// status, and Deployments and routes that begin to serve, after which surplus objects can
// be deleted. Of new objects it passes only revisions that another Helm client created.
func objectTouched() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return storage.WrittenByHand(e.Object) },
		DeleteFunc: func(e event.DeleteEvent) bool { return !storage.IsHistory(e.Object) },
		UpdateFunc: func(e event.UpdateEvent) bool {
			return release.Changed(e.ObjectOld, e.ObjectNew) || release.BeginsToServe(e.ObjectOld, e.ObjectNew)
		},
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

// helmConditions are the conditions that the Helm reconciler writes.
var helmConditions = []string{
	v1alpha1.ConditionInitialized,
	v1alpha1.ConditionDeployed,
	v1alpha1.ConditionReleaseFailed,
	v1alpha1.ConditionIrreconcilable,
	v1alpha1.ConditionPaused,
	v1alpha1.ConditionContested,
	v1alpha1.ConditionPreflight,
}

// helmPart returns the fields of a status that the Helm reconciler owns.
func helmPart(status v1alpha1.DarkroomStatus) v1alpha1.DarkroomStatus {
	part := v1alpha1.DarkroomStatus{DeployedRelease: status.DeployedRelease}
	for _, conditionType := range helmConditions {
		if condition := v1alpha1.FindCondition(status.Conditions, conditionType); condition != nil {
			part.Conditions = append(part.Conditions, *condition)
		}
	}
	return part
}
