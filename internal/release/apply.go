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

// FieldManager is the field manager of the release's objects.
const FieldManager = "darkroom-operator"

// errContended is returned if every attempt to write an object conflicted with other clients.
var errContended = errors.New("other clients keep writing the object")

// applyAttempts limits the attempts to write an object that others write, too.
const applyAttempts = 5

// absent is a resourceVersion that no object has. An apply with this version creates a missing object, but conflicts
// with an existing one, because the API server compares versions only if the object exists. So creating an object takes
// one request and cannot overwrite a foreign object.
const absent = "1"

// Every write verifies that the object belongs to the Darkroom. Either the object must not exist yet, or it must have
// the UID of an object that belongs to the Darkroom.

// apply writes the desired objects in the order of manifest.Waves, and then prunes. It skips:
//   - objects that were already applied in their desired state and have not changed since, according to the caches. If
//     the caches lag behind another client's change, the event of that change triggers a repair;
//   - the Deployment, while its rollout is postponed (postpone.go).
func (c *ActionClient) apply(objects []*unstructured.Unstructured) error {
	exists := func(object *unstructured.Unstructured) bool {
		live, _ := c.lookUp(object) // the apply will run into the same error
		return live != nil
	}
	for _, wave := range manifest.Waves(objects, exists) {
		// An error does not cancel the other writes, which are needed anyway.
		err := inParallel(wave, func(object *unstructured.Unstructured) error {
			known, err := c.lookUp(object)
			if err != nil || known != nil && c.memory.objects.Unchanged(drift.DesiredOf(object), known) {
				return err
			}
			if postponed, err := c.postpone(object, known); postponed || err != nil {
				return err
			}
			_, err = c.put(object, known)
			return err
		})
		if err != nil {
			return err
		}
	}
	// Objects needed until the end of the rollout are deleted by a later reconcile, once the caches show this apply.
	return c.prune()
}

// put writes an object and retries on conflicts. known is the cached object; nil if there is none. put removes fields
// that others added (see drift.Reclaim), records the result in the memory, and returns it.
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
		// The cache is stale, or another client wrote the object in the meantime.
		if uid, err = c.liveUID(object); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("apply %s: %w", manifest.KeyOf(object), errContended)
}

// putOnce is one attempt of put. The object must have the UID; an empty UID means that the object must not exist.
func (c *ActionClient) putOnce(object *unstructured.Unstructured, uid types.UID) (*unstructured.Unstructured, error) {
	if uid == "" {
		return c.send(object, uid)
	}
	if err := c.releaseReplicas(object, uid); err != nil {
		return nil, err
	}
	live, err := c.send(object, uid)
	if apierrors.IsInvalid(err) {
		// Fields added by other clients may be the cause.
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

// read reads an object from the API server; nil if it does not exist.
func (c *ActionClient) read(object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(object.GroupVersionKind())
	switch err := c.Uncached.Get(c.ctx, client.ObjectKeyFromObject(object), live); {
	case apierrors.IsNotFound(err):
		return nil, nil //nolint:nilnil // see above
	case err != nil:
		return nil, fmt.Errorf("get %s: %w", manifest.KeyOf(object), err)
	}
	return live, nil
}

// send applies an object and returns the result. The object must have the UID; an empty UID means that the object must
// not exist.
func (c *ActionClient) send(object *unstructured.Unstructured, uid types.UID) (*unstructured.Unstructured, error) {
	live, err := Apply(c.ctx, c.Client, c.darkroom, object, uid)
	if meta.IsNoMatchError(err) {
		return nil, fmt.Errorf(
			"apply %s: the cluster has no %s of %s: install the CustomResourceDefinition, or change the Darkroom "+
				"so that it does not need one: %w",
			manifest.KeyOf(object), object.GetKind(), object.GetAPIVersion(), err)
	}
	if err != nil {
		return nil, fmt.Errorf("apply %s: %w", manifest.KeyOf(object), err)
	}
	return live, nil
}

// Apply applies an object of a Darkroom's release with Helm's labels and annotations and the owner reference, and
// returns the result. The object must have the UID; an empty UID means that the object must not exist.
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

// cached returns an object from the caches; nil if it is not there.
func (c *ActionClient) cached(object manifest.Key) (metav1.Object, error) {
	live, err := c.Cached(c.ctx, object.GroupKind, client.ObjectKey{Namespace: c.key.Namespace, Name: object.Name})
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("get %s: %w", object, err)
	}
	return live, nil
}

// lookUp returns a cached object that belongs to the Darkroom; nil if there is none.
func (c *ActionClient) lookUp(object *unstructured.Unstructured) (metav1.Object, error) {
	live, err := c.cached(manifest.KeyOf(object))
	if live == nil || !ownership.Owns(c.darkroom, live) {
		return nil, err
	}
	return live, nil
}

// reclaim transfers unwanted fields that others added to the operator's field manager, and reports whether there were
// any.
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

// readMetadata reads the metadata of an object from the API server; nil if the object does not exist.
func (c *ActionClient) readMetadata(kind schema.GroupVersionKind, name string) (*metav1.PartialObjectMetadata, error) {
	existing := c.metadataOf(kind, name)
	switch err := c.Uncached.Get(c.ctx, client.ObjectKeyFromObject(existing), existing); {
	case isGone(err):
		return nil, nil //nolint:nilnil // see above
	case err != nil:
		return nil, fmt.Errorf("get %s: %w", manifest.Key{GroupKind: kind.GroupKind(), Name: name}, err)
	}
	existing.SetGroupVersionKind(kind)
	return existing, nil
}

// metadataOf returns empty metadata that identifies an object in the namespace of the release, for a request.
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
