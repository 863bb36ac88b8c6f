package release

import (
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
)

// replicasManager owns the number of replicas of a Deployment after the release stops setting the number and until an
// autoscaler sets it. Server-side apply removes a field when its only owner drops it, and the API server then defaults
// to one replica. So enabling autoscaling would otherwise remove all pods but one.
const replicasManager = "darkroom-operator-replicas"

// releaseReplicas transfers the number of replicas of a Deployment to replicasManager, if the object to be applied does
// not set the number but the operator's last apply did.
func (c *ActionClient) releaseReplicas(object *unstructured.Unstructured, uid types.UID) error {
	if manifest.KeyOf(object).GroupKind != deployments.GroupKind() {
		return nil
	}
	if _, set, _ := unstructured.NestedFieldNoCopy(object.Object, "spec", "replicas"); set {
		return nil
	}
	now, err := c.read(object)
	if now == nil || !slices.ContainsFunc(now.GetManagedFields(), appliesReplicas) {
		return err
	}
	replicas, found, err := unstructured.NestedInt64(now.Object, "spec", "replicas")
	if err != nil || !found {
		return err
	}
	kept := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"replicas": replicas}}}
	kept.SetGroupVersionKind(object.GroupVersionKind())
	kept.SetNamespace(object.GetNamespace())
	kept.SetName(object.GetName())
	kept.SetUID(uid)
	// The apply is not forced: an autoscaler that has changed the number in the meantime remains its owner.
	err = c.Client.Apply(c.ctx, client.ApplyConfigurationFromUnstructured(kept), client.FieldOwner(replicasManager))
	if err != nil && !apierrors.IsConflict(err) {
		return fmt.Errorf("keep the replicas of %s: %w", manifest.KeyOf(object), err)
	}
	return nil
}

// appliesReplicas reports whether a managed fields entry belongs to the operator's applies and contains the number of
// replicas.
func appliesReplicas(entry metav1.ManagedFieldsEntry) bool {
	return entry.Manager == FieldManager && entry.Operation == metav1.ManagedFieldsOperationApply &&
		entry.Subresource == "" &&
		entry.FieldsV1 != nil && strings.Contains(entry.FieldsV1.GetRawString(), `"f:replicas"`)
}
