package controller

import (
	"maps"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release"
	"github.com/darkroom-operator/darkroom-operator/internal/release/storage"
	"github.com/darkroom-operator/darkroom-operator/internal/status"
)

// changedOutsideStatus passes changes to a Darkroom's spec, annotations, labels and deletion timestamp. It ignores the
// status.
func changedOutsideStatus() predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool { return isChangedOutsideStatus(e, e.ObjectOld.GetAnnotations()) },
	}
}

// isChangedOutsideStatus reports whether a Darkroom changed outside its status. The old annotations are passed
// separately.
func isChangedOutsideStatus(e event.UpdateEvent, annotations map[string]string) bool {
	before, after := e.ObjectOld, e.ObjectNew
	return before.GetGeneration() != after.GetGeneration() ||
		!maps.Equal(annotations, after.GetAnnotations()) ||
		!maps.Equal(before.GetLabels(), after.GetLabels()) ||
		before.GetDeletionTimestamp().IsZero() != after.GetDeletionTimestamp().IsZero()
}

// helmReportChanged passes changes to the Helm controller's report in the status.
func helmReportChanged() predicate.Predicate {
	return onReport(func(before, after v1alpha1.DarkroomStatus) bool {
		return !status.HelmReportOf(before).Equal(status.HelmReportOf(after))
	})
}

// helmReportLost passes Darkrooms whose status has lost a part of the Helm controller's report, because the status was
// replaced or the controller dropped a condition. The controller then reports its part again.
func helmReportLost() predicate.Predicate {
	return onReport(func(before, after v1alpha1.DarkroomStatus) bool {
		return !status.HelmReportOf(before).IsPartOf(after)
	})
}

// onReport passes updates of Darkrooms depending on the old and the new status.
func onReport(passes func(before, after v1alpha1.DarkroomStatus) bool) predicate.Predicate {
	ignored := func(event.CreateEvent) bool { return false }
	return predicate.Funcs{CreateFunc: ignored, UpdateFunc: func(e event.UpdateEvent) bool {
		before, isBefore := e.ObjectOld.(*v1alpha1.Darkroom)
		after, isAfter := e.ObjectNew.(*v1alpha1.Darkroom)
		return isBefore && isAfter && passes(before.Status, after.Status)
	}}
}

// isClaimed passes Darkrooms that an installation handles or has just stopped handling.
func isClaimed(by *installation) predicate.Predicate {
	handles := func(object client.Object) bool {
		darkroom, ok := object.(*v1alpha1.Darkroom)
		return ok && by.handles(darkroom)
	}
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return handles(e.Object) },
		UpdateFunc: func(e event.UpdateEvent) bool { return handles(e.ObjectOld) || handles(e.ObjectNew) },
	}
}

// notOwnClaim drops the event caused by the operator's own claim, because the reconcile that wrote the claim is still
// running.
func notOwnClaim(by *installation) predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool {
			if e.ObjectOld.GetAnnotations()[v1alpha1.AnnotationInstallation] != "" ||
				e.ObjectOld.GetUID() != e.ObjectNew.GetUID() {
				return true
			}
			claimed := maps.Clone(e.ObjectOld.GetAnnotations())
			if claimed == nil {
				claimed = map[string]string{}
			}
			claimed[v1alpha1.AnnotationInstallation] = by.name
			return isChangedOutsideStatus(e, claimed)
		},
	}
}

// objectTouched passes managed objects that were deleted or changed outside their status. It also passes Deployments
// and routes that begin to serve, because objects can be pruned then. New objects are dropped, except for
// HTTPRoutes, which may replace an Ingress, and revisions that another Helm client created.
func objectTouched() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool {
			_, isRoute := e.Object.(*gatewayv1.HTTPRoute)
			return isRoute || storage.WrittenByHand(e.Object)
		},
		DeleteFunc: func(e event.DeleteEvent) bool { return !storage.IsHistory(e.Object) },
		UpdateFunc: func(e event.UpdateEvent) bool {
			return release.Changed(e.ObjectOld, e.ObjectNew) || release.BeginsToServe(e.ObjectOld, e.ObjectNew)
		},
	}
}
