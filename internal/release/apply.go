package release

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// FieldManager owns the fields that the release sets in its objects.
const FieldManager = "darkroom-operator"

// Marks by which Helm knows the objects of a release; `helm upgrade` and
// `helm uninstall` by hand check them.
const (
	labelManagedBy             = "app.kubernetes.io/managed-by"
	managedByHelm              = "Helm"
	annotationReleaseName      = "meta.helm.sh/release-name"
	annotationReleaseNamespace = "meta.helm.sh/release-namespace"
)

// ErrForeignObject says that an object of the release's name and kind exists and
// belongs to somebody else. It is never overwritten.
var ErrForeignObject = errors.New("exists and does not belong to this Darkroom")

// errContended says that an object did not rest long enough to be put right.
var errContended = errors.New("is written by others all the time: it is put right later")

// applyParallelism bounds the writes under way for one release.
const applyParallelism = 8

// applier writes the objects of one release.
type applier struct {
	client client.Client
	reader client.Reader // not cached
	live   LiveLookup
	drift  *drift
	owner  client.Object
	key    types.NamespacedName
}

// neverAVersion is a resourceVersion that no object has. An apply that carries it
// creates a missing object, and fails with a conflict if the object exists: the API
// server checks the version only of what is there. So a new object costs one
// request, where looking first would cost two and leave a gap between them.
const neverAVersion = "1"

// apply writes objects by server-side apply. Those in trusted were applied for
// this release before; the others are written only if nobody else has an object of
// that name.
func (a *applier) apply(ctx context.Context, objects []*unstructured.Unstructured, trusted map[objectKey]bool) error {
	for _, wave := range waves(objects) {
		// One that fails does not cancel the others: they are wanted all the same.
		var group errgroup.Group
		group.SetLimit(applyParallelism)
		for _, object := range wave {
			group.Go(func() error {
				if trusted[keyOf(object)] {
					_, err := a.applyAlone(ctx, object)
					return err
				}
				return a.applyNew(ctx, object)
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
	}
	return nil
}

// applyNew writes an object that may be somebody else's.
func (a *applier) applyNew(ctx context.Context, object *unstructured.Unstructured) error {
	live := a.marked(object)
	live.SetResourceVersion(neverAVersion)
	err := a.write(ctx, live)
	if err == nil {
		a.drift.applied(a.key, object, live)
	}
	if !apierrors.IsConflict(err) {
		return err
	}
	if err := a.checkOwnership(ctx, object); err != nil {
		return err
	}
	_, err = a.applyAlone(ctx, object)
	return err
}

// applyOne writes an object that is the release's. Where what somebody added by hand
// makes the result invalid, that is taken away first.
func (a *applier) applyOne(ctx context.Context, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	live := a.marked(object)
	refused := a.write(ctx, live)
	if !apierrors.IsInvalid(refused) {
		return live, refused
	}
	now := &unstructured.Unstructured{}
	now.SetGroupVersionKind(object.GroupVersionKind())
	if err := a.reader.Get(ctx, client.ObjectKeyFromObject(object), now); err != nil {
		return nil, refused
	}
	if found, err := a.reclaim(ctx, now); err != nil || !found {
		return nil, refused
	}
	live = a.marked(object)
	return live, a.write(ctx, live)
}

// reclaimTries bounds the tries to take away what others added, while others write.
const reclaimTries = 5

// applyAlone is applyOne, and leaves nothing in the object that others added. Only
// then is remembered how the object looks, which is what it returns.
func (a *applier) applyAlone(ctx context.Context, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	for try := 1; ; try++ {
		live, err := a.applyOne(ctx, object)
		if err != nil {
			return nil, err
		}
		found, err := a.reclaim(ctx, live)
		if err == nil && !found {
			a.drift.applied(a.key, object, live)
			return live, nil
		}
		// A conflict says that the object, its status perhaps, was written meanwhile.
		if err != nil && !apierrors.IsConflict(err) {
			return nil, err
		}
		if try == reclaimTries {
			return nil, fmt.Errorf("%s %w", keyOf(object), errContended)
		}
	}
}

// write applies live, the marked copy of an object, which then is what came back.
func (a *applier) write(ctx context.Context, live *unstructured.Unstructured) error {
	err := a.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(live),
		client.FieldOwner(FieldManager), client.ForceOwnership)
	if meta.IsNoMatchError(err) {
		return fmt.Errorf("apply %s: the cluster has no %s of %s: install its CustomResourceDefinition, or change the Darkroom so that it needs none: %w",
			keyOf(live), live.GetKind(), live.GetAPIVersion(), err)
	}
	if err != nil {
		return fmt.Errorf("apply %s: %w", keyOf(live), err)
	}
	return nil
}

// marked returns a copy of an object with Helm's marks and the owner reference.
func (a *applier) marked(object *unstructured.Unstructured) *unstructured.Unstructured {
	out := object.DeepCopy()
	labels := out.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[labelManagedBy] = managedByHelm
	out.SetLabels(labels)
	annotations := out.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[annotationReleaseName] = a.key.Name
	annotations[annotationReleaseNamespace] = a.key.Namespace
	out.SetAnnotations(annotations)
	out.SetOwnerReferences([]metav1.OwnerReference{ownerReference(a.owner)})
	return out
}

// checkOwnership makes sure that an object is missing, or belongs to this release.
func (a *applier) checkOwnership(ctx context.Context, object *unstructured.Unstructured) error {
	existing := &metav1.PartialObjectMetadata{}
	existing.SetGroupVersionKind(object.GroupVersionKind())
	err := a.reader.Get(ctx, client.ObjectKeyFromObject(object), existing)
	switch {
	case isGone(err):
		return nil
	case err != nil:
		return fmt.Errorf("look for %s: %w", keyOf(object), err)
	case a.owns(existing):
		return nil
	}
	return fmt.Errorf("%s %w: rename the Darkroom, or delete that object if nobody needs it", keyOf(object), ErrForeignObject)
}

func (a *applier) owns(object metav1.Object) bool {
	annotations := object.GetAnnotations()
	return annotations[annotationReleaseName] == a.key.Name && annotations[annotationReleaseNamespace] == a.key.Namespace
}

// remove deletes objects. Where the value is false the object is deleted only if
// it belongs to this release.
func (a *applier) remove(ctx context.Context, objects map[objectKey]bool) error {
	var group errgroup.Group
	group.SetLimit(applyParallelism)
	for key, known := range objects {
		group.Go(func() error {
			object := &metav1.PartialObjectMetadata{}
			object.SetGroupVersionKind(key.GroupVersionKind)
			object.SetNamespace(a.key.Namespace)
			object.SetName(key.name)
			if !known {
				err := a.reader.Get(ctx, client.ObjectKeyFromObject(object), object)
				if isGone(err) || err == nil && !a.owns(object) {
					return nil
				}
				if err != nil {
					return fmt.Errorf("look for %s: %w", key, err)
				}
			}
			err := a.client.Delete(ctx, object, client.PropagationPolicy(metav1.DeletePropagationBackground))
			if err != nil && !isGone(err) {
				return fmt.Errorf("delete %s: %w", key, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// isGone tells that an object is missing, or that its very kind is.
func isGone(err error) bool {
	return apierrors.IsNotFound(err) || meta.IsNoMatchError(err)
}
