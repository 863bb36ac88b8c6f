//go:build chaos

package chaos

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

// wrong returns all that is not as it should be: Darkrooms that are not ready or
// not gone, orphans, releases under way.
func wrong(ctx context.Context) error {
	list := &v1alpha1.DarkroomList{}
	if err := kube.List(ctx, list); err != nil {
		return err
	}
	var errs []error
	uids, names := map[types.UID]bool{}, map[types.NamespacedName]bool{}
	for i := range list.Items {
		darkroom := &list.Items[i]
		uids[darkroom.UID], names[client.ObjectKeyFromObject(darkroom)] = true, true
		ready := v1alpha1.FindCondition(darkroom.Status.Conditions, v1alpha1.ConditionReady)
		switch {
		case darkroom.DeletionTimestamp != nil:
			errs = append(errs, fmt.Errorf("%s/%s is still being deleted; finalizers %v", darkroom.Namespace, darkroom.Name, darkroom.Finalizers))
		case ready == nil || ready.Status != metav1.ConditionTrue || ready.ObservedGeneration != darkroom.Generation:
			errs = append(errs, fmt.Errorf("%s/%s is not ready: %s: %.300s", darkroom.Namespace, darkroom.Name, darkroom.Status.Phase, darkroom.Status.Message))
		}
	}
	for _, kind := range darkrooms.Belongings() {
		objects := &metav1.PartialObjectMetadataList{}
		objects.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		if err := kube.List(ctx, objects, client.HasLabels{v1alpha1.LabelDarkroom}); err != nil {
			return err
		}
		for i := range objects.Items {
			object := &objects.Items[i]
			owned := false
			if owner := metav1.GetControllerOf(object); owner != nil {
				owned = uids[owner.UID]
			} else if object.Labels["owner"] == "helm" {
				// What Helm writes by hand has no owner; it goes with the release.
				owned = names[types.NamespacedName{Namespace: object.Namespace, Name: object.Labels["name"]}]
			}
			if !owned {
				errs = append(errs, fmt.Errorf("%s %s/%s is an orphan", kind.Kind, object.Namespace, object.Name))
			}
			if status := object.Labels["status"]; strings.HasPrefix(status, "pending") || status == "uninstalling" {
				errs = append(errs, fmt.Errorf("release %s/%s is %s", object.Namespace, object.Name, status))
			}
		}
	}
	if len(errs) > 5 {
		errs = append(errs[:5], fmt.Errorf("… and %d more", len(errs)-5))
	}
	return errors.Join(errs...)
}

// tolerate lets a writer go on when the API server is away, or somebody was faster.
func tolerate(err error) error {
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err) || meta.IsNoMatchError(err) {
		return nil
	}
	return err
}

func namespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}
