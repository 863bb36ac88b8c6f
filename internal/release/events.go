package release

import (
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/internal/release/drift"
	"github.com/darkroom-operator/darkroom-operator/internal/release/storage"
)

// Which changes of the objects of a release call for a reconcile.

// Changed reports whether an object was changed in more than its status, or a revision by
// another Helm client.
func Changed(before, after metav1.Object) bool {
	if storage.IsRevision(after) {
		return storage.WrittenByHand(after)
	}
	return drift.Differ(before, after)
}

// BeginsToServe reports whether a change of an object is the end of a roll-out, or the
// acceptance of a route. Objects that were kept until then can be removed.
func BeginsToServe(before, after client.Object) bool {
	old, wasDeployment := before.(*appsv1.Deployment)
	now, isDeployment := after.(*appsv1.Deployment)
	if wasDeployment && isDeployment {
		return !RolledOut(old) && RolledOut(now)
	}
	return !isAccepted(before) && isAccepted(after)
}
