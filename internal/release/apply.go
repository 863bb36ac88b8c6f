package release

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
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

// applyAttempts bounds the attempts to write an object that others write too.
const applyAttempts = 5

// absent is a resourceVersion that no object has. An apply that carries it creates a
// missing object, and fails with a conflict if the object exists: the API server compares
// versions only if the object exists. So creating an object costs one request and cannot
// overwrite somebody else's object.
const absent = "1"

// An object is written only if the write itself proves that it is the Darkroom's: either it must
// not exist yet, or it must have the UID of an object that belongs to the Darkroom.

// apply writes the desired objects, in the order of manifest.Waves, and deletes those that the Darkroom owns in
// addition. It leaves out those that were applied as they are desired, and that the caches show as they were then:
// for a change of a Darkroom all but two or three. If the caches lag behind a change by another client, its event will
// follow, and the object is repaired. It also leaves out the Deployment while that has to wait (postpone.go).
func (c *ActionClient) apply(objects []*unstructured.Unstructured) error {
	exists := func(object *unstructured.Unstructured) bool {
		live, _ := c.lookUp(object) // an error will be met again by the apply
		return live != nil
	}
	for _, wave := range manifest.Waves(objects, exists) {
		// An error does not cancel the other writes, because they are needed anyway.
		err := inParallel(wave, func(object *unstructured.Unstructured) error {
			known, err := c.lookUp(object)
			if err != nil || known != nil && c.memory.objects.Unchanged(drift.DesiredOf(object), known) {
				return err
			}
			if postponed, err := c.postpones(object, known); postponed || err != nil {
				return err
			}
			_, err = c.put(object, known)
			return err
		})
		if err != nil {
			return err
		}
	}
	// Objects that have to wait for the rollout are removed by a later reconcile, once the
	// caches show the apply.
	return c.removeSurplus()
}

// put writes an object, which the caches show as known or not at all, until no other writer is faster. It removes from
// the object what others added (see drift.Reclaim), and remembers and returns it as it is then.
func (c *ActionClient) put(object *unstructured.Unstructured, known metav1.Object) (*unstructured.Unstructured, error) {
	var uid types.UID
	if known != nil {
		uid = known.GetUID()
	}
	marked := c.marked(object, known)
	for range applyAttempts {
		live, err := c.putOnce(marked, uid)
		if err == nil {
			c.memory.objects.Applied(object, live)
			c.awaitShown(manifest.KeyOf(object))
			return live, nil
		}
		if !apierrors.IsConflict(err) {
			return nil, err
		}
		// The cache is stale, or the object was written in between.
		if uid, err = c.liveUID(object); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("apply %s: %w", manifest.KeyOf(object), errContended)
}

// putOnce is one attempt of put, with the UID that the object must have; none if it must not exist.
func (c *ActionClient) putOnce(object *unstructured.Unstructured, uid types.UID) (*unstructured.Unstructured, error) {
	if uid == "" {
		return c.send(object, uid)
	}
	if err := c.releaseReplicas(object, uid); err != nil {
		return nil, err
	}
	live, err := c.send(object, uid)
	if apierrors.IsInvalid(err) {
		// Additions by others may be the cause.
		if live, _ = c.read(object); live == nil || live.GetUID() != uid {
			return nil, err
		}
	} else if err != nil {
		return nil, err
	}
	reclaimed, reclaimErr := c.reclaim(live)
	switch {
	case reclaimed:
		return c.send(object, uid)
	case err != nil:
		return nil, err
	}
	return live, reclaimErr
}

// read returns an object as the API server has it; nil if there is none.
func (c *ActionClient) read(object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(object.GroupVersionKind())
	switch err := c.Uncached.Get(c.ctx, client.ObjectKeyFromObject(object), live); {
	case apierrors.IsNotFound(err):
		return nil, nil //nolint:nilnil // see above
	case err != nil:
		return nil, fmt.Errorf("look for %s: %w", manifest.KeyOf(object), err)
	}
	return live, nil
}

// send sends one apply of an object that must have a UID, or must not exist if uid is empty. It
// returns the object as it came back.
func (c *ActionClient) send(object *unstructured.Unstructured, uid types.UID) (*unstructured.Unstructured, error) {
	live, err := Apply(c.ctx, c.Client, c.darkroom, object, uid)
	if meta.IsNoMatchError(err) {
		return nil, fmt.Errorf(
			"apply %s: the cluster has no %s of %s: install its CustomResourceDefinition, or change the Darkroom "+
				"so that it needs none: %w",
			manifest.KeyOf(object), object.GetKind(), object.GetAPIVersion(), err)
	}
	if err != nil {
		return nil, fmt.Errorf("apply %s: %w", manifest.KeyOf(object), err)
	}
	return live, nil
}

// Apply applies an object of a Darkroom's release, with Helm's marks and the owner reference, and returns it as it came
// back. The object must have a UID, or must not exist if uid is empty.
func Apply(
	ctx context.Context, to client.Client, darkroom client.Object, object *unstructured.Unstructured, uid types.UID,
	options ...client.ApplyOption,
) (*unstructured.Unstructured, error) {
	out := object.DeepCopy()
	out.SetLabels(labels.Merge(out.GetLabels(), labels.Set{ownership.LabelManagedBy: ownership.ManagedByHelm}))
	out.SetAnnotations(labels.Merge(out.GetAnnotations(), labels.Set{
		ownership.AnnotationReleaseName:      darkroom.GetName(),
		ownership.AnnotationReleaseNamespace: darkroom.GetNamespace(),
	}))
	out.SetOwnerReferences([]metav1.OwnerReference{ownership.Reference(darkroom)})
	if uid == "" {
		out.SetResourceVersion(absent)
	} else {
		out.SetUID(uid)
	}
	options = append(options, client.FieldOwner(FieldManager), client.ForceOwnership)
	return out, to.Apply(ctx, client.ApplyConfigurationFromUnstructured(out), options...)
}

// cached returns an object as the caches show it; nil if they show none.
func (c *ActionClient) cached(object manifest.Key) (metav1.Object, error) {
	live, err := c.Cached(c.ctx, object.GroupKind, client.ObjectKey{Namespace: c.key.Namespace, Name: object.Name})
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("look for %s: %w", object, err)
	}
	return live, nil
}

// lookUp returns an object of the Darkroom that the caches show; nil if they show no such
// object.
func (c *ActionClient) lookUp(object *unstructured.Unstructured) (metav1.Object, error) {
	live, err := c.cached(manifest.KeyOf(object))
	if live == nil || !ownership.Owns(c.darkroom, live) {
		return nil, err
	}
	return live, nil
}

// liveUID returns the UID of an object as the API server has it; none if it is missing. The
// error is ErrForeignObject if it does not belong to the Darkroom.
func (c *ActionClient) liveUID(object *unstructured.Unstructured) (types.UID, error) {
	existing, err := c.readMetadata(object.GroupVersionKind(), object.GetName())
	switch {
	case err != nil || existing == nil:
		return "", err
	case !metav1.IsControlledBy(existing, c.darkroom):
		return "", fmt.Errorf("%s: %w: %s: rename the Darkroom, or delete that object if nothing needs it",
			manifest.KeyOf(object), ErrForeignObject, ownership.Owner(existing))
	}
	return existing.GetUID(), nil
}

// reclaim makes the operator the owner of the fields that others added and that must go,
// and reports whether there were any.
func (c *ActionClient) reclaim(live *unstructured.Unstructured) (bool, error) {
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
	if err := c.Client.Patch(c.ctx, c.metadataOf(live.GroupVersionKind(), live.GetName()),
		client.RawPatch(types.MergePatchType, patch)); err != nil {
		return false, fmt.Errorf("reclaim fields of %s: %w", manifest.KeyOf(live), err)
	}
	return true, nil
}

// remove deletes an object if it is the Darkroom's at that moment: as the caches show it, and if they
// do not show its last version, as the API server has it. One that waits for finalizers is deleted already.
func (c *ActionClient) remove(object owned) error {
	live := object.live
	if live != nil && live.GetDeletionTimestamp() != nil {
		c.memory.objects.Removed(object.key())
		return nil
	}
	for range applyAttempts {
		if live == nil {
			existing, err := c.readOwned(object.Kind, object.Name)
			if err != nil {
				return err
			}
			if existing == nil || existing.UID != object.UID {
				c.memory.objects.Removed(object.key())
				return nil
			}
			live = existing
		}
		version := live.GetResourceVersion()
		err := c.Client.Delete(c.ctx, c.metadataOf(object.Kind, object.Name),
			client.Preconditions{UID: &object.UID, ResourceVersion: &version},
			client.PropagationPolicy(metav1.DeletePropagationBackground))
		switch {
		case err == nil, isGone(err):
			c.memory.objects.Removed(object.key())
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
func (c *ActionClient) readOwned(kind schema.GroupVersionKind, name string) (*metav1.PartialObjectMetadata, error) {
	existing, err := c.readMetadata(kind, name)
	if existing != nil && !ownership.Owns(c.darkroom, existing) {
		return nil, nil //nolint:nilnil // see above
	}
	return existing, err
}

// readMetadata returns the metadata of an object as the API server has it; nil if there is none.
func (c *ActionClient) readMetadata(kind schema.GroupVersionKind, name string) (*metav1.PartialObjectMetadata, error) {
	existing := c.metadataOf(kind, name)
	switch err := c.Uncached.Get(c.ctx, client.ObjectKeyFromObject(existing), existing); {
	case isGone(err):
		return nil, nil //nolint:nilnil // see above
	case err != nil:
		return nil, fmt.Errorf("look for %s: %w", manifest.Key{GroupKind: kind.GroupKind(), Name: name}, err)
	}
	existing.SetGroupVersionKind(kind)
	return existing, nil
}

// metadataOf returns the metadata of an object in the namespace of the release, to be read or written.
func (c *ActionClient) metadataOf(kind schema.GroupVersionKind, name string) *metav1.PartialObjectMetadata {
	out := &metav1.PartialObjectMetadata{}
	out.SetGroupVersionKind(kind)
	out.SetNamespace(c.key.Namespace)
	out.SetName(name)
	return out
}

// isGone reports whether an object, or its kind, does not exist.
func isGone(err error) bool {
	return apierrors.IsNotFound(err) || meta.IsNoMatchError(err)
}
