// Package ownership decides which objects in the cluster belong to a Darkroom.
//
// An object belongs to a Darkroom if it has the label LabelDarkroom with the Darkroom's name and a controller owner
// reference with the Darkroom's UID. The name of an object, Helm's annotations and the history of a release do not
// matter. internal/release/foreign.go refuses objects that belong to others.
package ownership

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// The annotations and the label that Helm sets on the objects of a release.
const (
	LabelManagedBy             = "app.kubernetes.io/managed-by"
	ManagedByHelm              = "Helm"
	AnnotationReleaseName      = "meta.helm.sh/release-name"
	AnnotationReleaseNamespace = "meta.helm.sh/release-namespace"
)

// Index is the name of the index of objects by the Darkroom that owns them. All kinds that a release can contain are
// indexed.
const Index = "darkroom-uid"

// IndexFunc is the index function of Index.
func IndexFunc(object client.Object) []string {
	if uid := UID(object); uid != "" {
		return []string{IndexKey(uid)}
	}
	return nil
}

// IndexKey returns the key of a Darkroom in the index Index: the first two hex digits of its UID. Several Darkrooms
// share a key, so results must be checked with Owns or OwnsRevision. With unique keys, 10,000 Darkrooms would take 46
// MiB more.
func IndexKey(uid types.UID) string { return string(uid[:min(2, len(uid))]) }

// UID returns the UID of the Darkroom that owns an object; empty if there is none. It is the UID in the controller
// owner reference. Helm clients drop this reference when they rewrite their Secrets, so without it the label
// LabelDarkroomUID counts.
func UID(object metav1.Object) types.UID {
	if controller := metav1.GetControllerOfNoCopy(object); controller != nil {
		if controller.Kind == v1alpha1.Kind && controller.APIVersion == v1alpha1.GroupVersion.String() {
			return controller.UID
		}
		return ""
	}
	return types.UID(object.GetLabels()[v1alpha1.LabelDarkroomUID])
}

// Owns reports whether an object belongs to a Darkroom.
func Owns(darkroom, object metav1.Object) bool {
	return object.GetLabels()[v1alpha1.LabelDarkroom] == darkroom.GetName() && metav1.IsControlledBy(object, darkroom)
}

// OwnsRevision reports whether a Secret of Helm is a revision of the Darkroom's release. Helm clients drop owner
// references when they rewrite Secrets but keep labels, so without a controller the label LabelDarkroomUID counts.
func OwnsRevision(darkroom, secret metav1.Object) bool {
	return secret.GetLabels()[v1alpha1.LabelDarkroom] == darkroom.GetName() && UID(secret) == darkroom.GetUID()
}

// Reference returns the owner reference for objects of a Darkroom.
func Reference(darkroom metav1.Object) metav1.OwnerReference {
	return *metav1.NewControllerRef(darkroom, v1alpha1.GroupVersionKind)
}

// Owner describes an object's owner in a message for the users of a Darkroom.
func Owner(object metav1.Object) string {
	if controller := metav1.GetControllerOfNoCopy(object); controller != nil {
		return fmt.Sprintf("it is controlled by %s %s", controller.Kind, controller.Name)
	}
	if release := object.GetAnnotations()[AnnotationReleaseName]; release != "" {
		return fmt.Sprintf("it belongs to the Helm release %s", release)
	}
	return "it has no controller"
}
