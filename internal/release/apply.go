package release

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/internal/release/drift"
	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
	"github.com/darkroom-operator/darkroom-operator/internal/release/ownership"
)

// FieldManager owns the fields that the release sets in its objects.
const FieldManager = "darkroom-operator"

// ErrForeignObject is returned if an object of the same name and kind exists and does not
// belong to the Darkroom. That object is never changed.
var ErrForeignObject = errors.New("the object exists and does not belong to this Darkroom")

// errContended is returned if other clients wrote an object between all attempts to restore
// it.
var errContended = errors.New("other clients keep writing the object")

const (
	// applyParallelism bounds the concurrent writes for one release.
	applyParallelism = 8
	// applyAttempts bounds the attempts to write an object that others write too.
	applyAttempts = 5
)

// absent is a resourceVersion that no object has. An apply that carries it creates a
// missing object, and fails with a conflict if the object exists: the API server compares
// the version only with that of an existing object. So creating an object costs one
// request and cannot overwrite anybody's.
const absent = "1"

// applier writes the objects of one release. An object is written only if the write itself
// proves that it is the Darkroom's: either it must not exist yet, or it must have the UID
// of an object that belongs to the Darkroom.
type applier struct {
	client   client.Client
	reader   client.Reader // not cached
	live     LiveLookup
	memory   *drift.Memory
	darkroom client.Object
	key      types.NamespacedName
}

// apply writes objects, in the order of manifest.Waves. It leaves out those that are known to
// be as desired: for a change of a Darkroom all but two or three.
func (a *applier) apply(ctx context.Context, objects []*unstructured.Unstructured) error {
	exists := func(object *unstructured.Unstructured) bool {
		live, err := a.lookUp(ctx, object)
		return err != nil || live != nil
	}
	for _, wave := range manifest.Waves(objects, exists) {
		// An error does not cancel the other writes, because they are needed anyway.
		var group errgroup.Group
		group.SetLimit(applyParallelism)
		for _, object := range wave {
			group.Go(func() error {
				if unchanged, err := a.isUnchanged(ctx, object); err != nil || unchanged {
					return err
				}
				_, err := a.put(ctx, object)
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return err
		}
	}
	return nil
}

// isUnchanged reports whether an object was applied as it is desired, and the caches show it
// as it was then. If they lag behind a change by another client, its event will follow, and
// the object is repaired.
func (a *applier) isUnchanged(ctx context.Context, object *unstructured.Unstructured) (bool, error) {
	live, err := a.lookUp(ctx, object)
	return live != nil && a.memory.Unchanged(object, live), err
}

// put writes an object and removes from it what others added (see drift.Reclaim). It
// remembers and returns the object as it is then.
func (a *applier) put(ctx context.Context, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	known, err := a.lookUp(ctx, object)
	if err != nil {
		return nil, err
	}
	var uid types.UID
	if known != nil {
		uid = known.GetUID()
	}
	for range applyAttempts {
		live, err := a.putOnce(ctx, object, uid)
		if err == nil {
			a.memory.Applied(object, live)
			return live, nil
		}
		if !apierrors.IsConflict(err) {
			return nil, err
		}
		// The cache is stale, or the object was written in between.
		if uid, err = a.liveUID(ctx, object); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("apply %s: %w", manifest.KeyOf(object), errContended)
}

// putOnce is put with the UID that the object must have; none if it must not exist.
func (a *applier) putOnce(ctx context.Context, object *unstructured.Unstructured, uid types.UID) (*unstructured.Unstructured, error) {
	if uid != "" {
		if err := a.releaseReplicas(ctx, object, uid); err != nil {
			return nil, err
		}
	}
	live, err := a.write(ctx, object, uid)
	if apierrors.IsInvalid(err) && uid != "" {
		// Additions by others may be the cause.
		live, err = a.writeOverAdditions(ctx, object, uid, err)
	}
	if err != nil || uid == "" {
		return live, err
	}
	if reclaimed, err := a.reclaim(ctx, live); err != nil || !reclaimed {
		return live, err
	}
	return a.write(ctx, object, uid)
}

// writeOverAdditions removes the additions by others to an object before it is written;
// refused is the error of the write without that.
func (a *applier) writeOverAdditions(ctx context.Context, object *unstructured.Unstructured, uid types.UID, refused error) (*unstructured.Unstructured, error) {
	now := &unstructured.Unstructured{}
	now.SetGroupVersionKind(object.GroupVersionKind())
	if err := a.reader.Get(ctx, client.ObjectKeyFromObject(object), now); err != nil || now.GetUID() != uid {
		return nil, refused
	}
	if reclaimed, err := a.reclaim(ctx, now); err != nil || !reclaimed {
		return nil, refused
	}
	return a.write(ctx, object, uid)
}

// write applies an object that must have a UID, or must not exist if uid is empty. It
// returns the object as it came back.
func (a *applier) write(ctx context.Context, object *unstructured.Unstructured, uid types.UID) (*unstructured.Unstructured, error) {
	live := Marked(a.darkroom, object)
	if uid == "" {
		live.SetResourceVersion(absent)
	} else {
		live.SetUID(uid)
	}
	err := a.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(live),
		client.FieldOwner(FieldManager), client.ForceOwnership)
	if meta.IsNoMatchError(err) {
		return nil, fmt.Errorf("apply %s: the cluster has no %s of %s: install its CustomResourceDefinition, or change the Darkroom so that it needs none: %w",
			manifest.KeyOf(live), live.GetKind(), live.GetAPIVersion(), err)
	}
	if err != nil {
		return nil, fmt.Errorf("apply %s: %w", manifest.KeyOf(live), err)
	}
	return live, nil
}

// Marked returns a copy of an object of a Darkroom's release as it is applied: with Helm's marks and the owner reference.
func Marked(darkroom client.Object, object *unstructured.Unstructured) *unstructured.Unstructured {
	out := object.DeepCopy()
	out.SetLabels(with(out.GetLabels(), map[string]string{ownership.LabelManagedBy: ownership.ManagedByHelm}))
	out.SetAnnotations(with(out.GetAnnotations(), map[string]string{
		ownership.AnnotationReleaseName:      darkroom.GetName(),
		ownership.AnnotationReleaseNamespace: darkroom.GetNamespace(),
	}))
	out.SetOwnerReferences([]metav1.OwnerReference{ownership.Reference(darkroom)})
	return out
}

func with(values, added map[string]string) map[string]string {
	if values == nil {
		return added
	}
	maps.Copy(values, added)
	return values
}

// lookUp returns an object of the Darkroom that the caches show; nil if they show no such
// object.
func (a *applier) lookUp(ctx context.Context, object *unstructured.Unstructured) (metav1.Object, error) {
	live, err := a.live(ctx, object.GroupVersionKind().GroupKind(), client.ObjectKeyFromObject(object))
	switch {
	case client.IgnoreNotFound(err) != nil:
		return nil, fmt.Errorf("look for %s: %w", manifest.KeyOf(object), err)
	case err != nil, live == nil, !ownership.Owns(a.darkroom, live):
		return nil, nil //nolint:nilnil // see above
	}
	return live, nil
}

// liveUID returns the UID of an object as the API server has it; none if it is missing. The
// error is ErrForeignObject if it does not belong to the Darkroom.
func (a *applier) liveUID(ctx context.Context, object *unstructured.Unstructured) (types.UID, error) {
	existing := &metav1.PartialObjectMetadata{}
	existing.SetGroupVersionKind(object.GroupVersionKind())
	err := a.reader.Get(ctx, client.ObjectKeyFromObject(object), existing)
	switch {
	case isGone(err):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("look for %s: %w", manifest.KeyOf(object), err)
	case !metav1.IsControlledBy(existing, a.darkroom):
		return "", fmt.Errorf("%s: %w: %s: rename the Darkroom, or delete that object if nothing needs it",
			manifest.KeyOf(object), ErrForeignObject, ownership.Owner(existing))
	}
	return existing.GetUID(), nil
}

// reclaim makes the operator the owner of the fields that others added and that must go,
// and reports whether there were any.
func (a *applier) reclaim(ctx context.Context, live *unstructured.Unstructured) (bool, error) {
	entries, found, err := drift.Reclaim(live.GroupVersionKind().GroupKind(), FieldManager, live.GetManagedFields())
	if err != nil || !found {
		return false, err
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"managedFields":   entries,
		"uid":             live.GetUID(),
		"resourceVersion": live.GetResourceVersion(),
	}})
	if err != nil {
		return false, fmt.Errorf("encode managed fields: %w", err)
	}
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(live.GroupVersionKind())
	object.SetNamespace(live.GetNamespace())
	object.SetName(live.GetName())
	if err := a.client.Patch(ctx, object, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return false, fmt.Errorf("reclaim fields of %s: %w", manifest.KeyOf(live), err)
	}
	return true, nil
}

// remove deletes an object if it is the Darkroom's at that moment: as the caches show it, and if they
// do not show its last version, as the API server has it.
func (a *applier) remove(ctx context.Context, object owned) error {
	live := object.live
	for range applyAttempts {
		if live == nil {
			existing, err := a.readOwned(ctx, object.Kind, object.Name)
			if err != nil {
				return err
			}
			if existing == nil || existing.UID != object.UID {
				a.memory.Removed(object.key())
				return nil
			}
			live = existing
		}
		target := &metav1.PartialObjectMetadata{}
		target.SetGroupVersionKind(object.Kind)
		target.SetNamespace(a.key.Namespace)
		target.SetName(object.Name)
		version := live.GetResourceVersion()
		err := a.client.Delete(ctx, target, client.Preconditions{UID: &object.UID, ResourceVersion: &version},
			client.PropagationPolicy(metav1.DeletePropagationBackground))
		switch {
		case err == nil, isGone(err):
			a.memory.Removed(object.key())
			return nil
		case !apierrors.IsConflict(err):
			return fmt.Errorf("delete %s: %w", object, err)
		}
		live = nil
	}
	return fmt.Errorf("delete %s: %w", object, errContended)
}

// readOwned returns an object of the Darkroom as the API server has it; nil if there is none, or
// if it belongs to others.
func (a *applier) readOwned(ctx context.Context, kind schema.GroupVersionKind, name string) (*metav1.PartialObjectMetadata, error) {
	existing := &metav1.PartialObjectMetadata{}
	existing.SetGroupVersionKind(kind)
	err := a.reader.Get(ctx, types.NamespacedName{Namespace: a.key.Namespace, Name: name}, existing)
	switch {
	case isGone(err), err == nil && !ownership.Owns(a.darkroom, existing):
		return nil, nil //nolint:nilnil // see above
	case err != nil:
		return nil, fmt.Errorf("look for %s: %w", manifest.Key{GroupKind: kind.GroupKind(), Name: name}, err)
	}
	existing.SetGroupVersionKind(kind)
	return existing, nil
}

// isGone reports whether an object, or its kind, does not exist.
func isGone(err error) bool {
	return apierrors.IsNotFound(err) || meta.IsNoMatchError(err)
}
