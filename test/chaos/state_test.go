//go:build chaos

package chaos

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

// wrong returns everything that is wrong in the cluster: Darkrooms that are not ready or not gone, orphans, and pending
// releases.
func wrong(ctx context.Context) error {
	return census(ctx, "", notReady, func(string, client.ObjectKey) bool { return false })
}

// census checks the Darkrooms in a namespace (empty means the whole cluster) and their objects. verdict returns an
// error if the state of a Darkroom that is not being deleted is wrong. isForeign reports whether an object is known not
// to belong to a Darkroom, regardless of its labels.
func census(
	ctx context.Context, namespace string, verdict func(*v1alpha1.Darkroom) error,
	isForeign func(kind string, key client.ObjectKey) bool,
) error {
	list := &v1alpha1.DarkroomList{}
	if err := kube.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return err
	}
	var errs []error
	uids, names := map[types.UID]bool{}, map[types.NamespacedName]bool{}
	for i := range list.Items {
		darkroom := &list.Items[i]
		uids[darkroom.UID], names[client.ObjectKeyFromObject(darkroom)] = true, true
		if darkroom.DeletionTimestamp != nil {
			errs = append(errs, fmt.Errorf("%s/%s is still being deleted; finalizers %v", darkroom.Namespace,
				darkroom.Name, darkroom.Finalizers))
		} else if err := verdict(darkroom); err != nil {
			errs = append(errs, fmt.Errorf("%s/%s: %w", darkroom.Namespace, darkroom.Name, err))
		}
	}
	objects, err := metadataOf(ctx, namespace, darkrooms.Belongings(), client.HasLabels{v1alpha1.LabelDarkroom})
	if err != nil {
		return err
	}
	for i := range objects {
		object := &objects[i]
		if isForeign(object.Kind, client.ObjectKeyFromObject(object)) {
			continue
		}
		owned := false
		if owner := metav1.GetControllerOf(object); owner != nil {
			owned = uids[owner.UID]
		} else if object.Labels["owner"] == "helm" {
			// Secrets of releases created by the helm command have no owner and are deleted with the release.
			owned = names[types.NamespacedName{Namespace: object.Namespace, Name: object.Labels["name"]}]
		}
		if !owned {
			errs = append(errs, fmt.Errorf("%s is an orphan", thingOf(object)))
		}
		if status := object.Labels["status"]; strings.HasPrefix(status, "pending") || status == "uninstalling" {
			errs = append(errs, fmt.Errorf("release %s/%s is %s", object.Namespace, object.Name, status))
		}
	}
	return shorten(errs)
}

// metadataOf returns the metadata of all objects of some kinds in a namespace.
func metadataOf(
	ctx context.Context, namespace string, kinds []schema.GroupVersionKind, options ...client.ListOption,
) ([]metav1.PartialObjectMetadata, error) {
	var all []metav1.PartialObjectMetadata
	for _, kind := range kinds {
		objects := &metav1.PartialObjectMetadataList{}
		objects.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		if err := kube.List(ctx, objects, append(options, client.InNamespace(namespace))...); err != nil {
			return nil, err
		}
		all = append(all, objects.Items...)
	}
	return all, nil
}

// notReady returns an error unless the current generation of a Darkroom is ready.
func notReady(darkroom *v1alpha1.Darkroom) error {
	ready := v1alpha1.FindCondition(darkroom.Status.Conditions, v1alpha1.ConditionReady)
	if ready == nil || ready.Status != metav1.ConditionTrue || ready.ObservedGeneration != darkroom.Generation {
		return fmt.Errorf("not ready: %s: %.300s", darkroom.Status.Phase, darkroom.Status.Message)
	}
	return nil
}

// shorten joins the first five errors and omits the others.
func shorten(errs []error) error {
	if more := len(errs) - 5; more > 0 {
		errs = append(errs[:5:5], fmt.Errorf("… and %d more", more))
	}
	return errors.Join(errs...)
}

// tolerate lets a writer continue if the API server is unavailable, or after a conflict.
func tolerate(err error) error {
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err) ||
		meta.IsNoMatchError(err) ||
		isReplaced(err) {
		return nil
	}
	return err
}

// isReplaced reports whether a patch failed because the object with its UID was recreated.
func isReplaced(err error) bool {
	cause, found := apierrors.StatusCause(err, metav1.CauseTypeFieldValueInvalid)
	return found && cause.Field == "metadata.uid"
}

// newNamespace creates a namespace that is deleted with its Darkrooms when the test ends. After that, no operator
// handles them.
func newNamespace(t *testing.T) string {
	t.Helper()
	made := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "chaos-"}}
	must(t, kube.Create(t.Context(), made))
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		left := &v1alpha1.DarkroomList{}
		err := kube.List(ctx, left, client.InNamespace(made.Name))
		for i := range left.Items {
			err = errors.Join(err, kube.Patch(ctx, &left.Items[i], mergePatch(`{"metadata":{"finalizers":null}}`)))
		}
		if err = errors.Join(err, kube.Delete(ctx, made)); err != nil {
			t.Error(err)
		}
	})
	return made.Name
}

func namespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}
