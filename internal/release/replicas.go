package release

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/darkroom-operator/darkroom-operator/internal/release/drift"
	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
)

// replicasManager holds the number of replicas of a Deployment from the moment the release
// no longer sets it until an autoscaler does. Server-side apply removes a field that its
// only owner leaves out, and the API server then falls back to one replica: switching a
// Darkroom to autoscaling would take all its pods but one.
const replicasManager = "darkroom-operator-replicas"

var replicasPath = fieldpath.MakePathOrDie("spec", "replicas")

// releaseReplicas hands the number of replicas of a Deployment over to replicasManager, if
// the object to be applied does not set it and the operator's last apply did.
func (a *applier) releaseReplicas(ctx context.Context, object *unstructured.Unstructured, uid types.UID) error {
	if manifest.KeyOf(object).GroupKind != deployments.GroupKind() {
		return nil
	}
	if _, set, _ := unstructured.NestedFieldNoCopy(object.Object, "spec", "replicas"); set {
		return nil
	}
	now := &unstructured.Unstructured{}
	now.SetGroupVersionKind(object.GroupVersionKind())
	if err := a.reader.Get(ctx, client.ObjectKeyFromObject(object), now); err != nil {
		return client.IgnoreNotFound(err)
	}
	owns, err := drift.OwnsField(FieldManager, now.GetManagedFields(), replicasPath)
	if err != nil || !owns {
		return err
	}
	replicas, found, err := unstructured.NestedInt64(now.Object, "spec", "replicas")
	if err != nil || !found {
		return err
	}
	held := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"replicas": replicas}}}
	held.SetGroupVersionKind(object.GroupVersionKind())
	held.SetNamespace(object.GetNamespace())
	held.SetName(object.GetName())
	held.SetUID(uid)
	// Without force: if an autoscaler has changed the number meanwhile, it is the owner.
	err = a.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(held), client.FieldOwner(replicasManager))
	if err != nil && !apierrors.IsConflict(err) {
		return fmt.Errorf("keep the replicas of %s: %w", manifest.KeyOf(object), err)
	}
	return nil
}
