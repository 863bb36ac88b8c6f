package release

import (
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// The chart names ConfigMaps and Secrets by what they hold. Those of the last
// revision stay while pods of its template may be made anew, which would not start
// without them, and are deleted as soon as a change is rolled out. A roll-out that is
// stuck, or an operator that dies on the way, takes nothing from the pods that serve.

// Kept are the kinds that stay until no pod needs them.
var Kept = []schema.GroupVersionKind{
	corev1.SchemeGroupVersion.WithKind("ConfigMap"),
	corev1.SchemeGroupVersion.WithKind("Secret"),
}

var deployments = appsv1.SchemeGroupVersion.WithKind("Deployment")

// IndexKept is the index of the kinds in Kept by the Darkroom that they belong to.
const IndexKept = "kept"

// IndexKeptFunc is the function of the index IndexKept.
func IndexKeptFunc(object client.Object) []string {
	name := object.GetLabels()[v1alpha1.LabelDarkroom]
	if name == "" || isRevision(object) {
		return nil
	}
	return []string{name}
}

// keep takes out of the objects that are to be removed those that pods may need.
func keep(surplus map[objectKey]bool) {
	maps.DeleteFunc(surplus, func(key objectKey, _ bool) bool { return slices.Contains(Kept, key.GroupVersionKind) })
}

// removeLeftovers deletes what earlier revisions have left for their pods, once all
// pods are of the present template. It costs no request while there is nothing to do,
// and tells whether nothing is left.
func (c *actionClient) removeLeftovers(wanted []objectKey) (bool, error) {
	if c.drift.isTidy(c.key) {
		return true, nil
	}
	leftovers, err := c.leftovers(wanted)
	if err != nil {
		return false, fmt.Errorf("release %s: %w", c.key, err)
	}
	if len(leftovers) == 0 {
		return true, nil
	}
	done, err := c.rolledOut(wanted)
	if err != nil || !done {
		return false, err
	}
	if err := c.applier().remove(c.ctx, leftovers); err != nil {
		return false, fmt.Errorf("release %s: %w", c.key, err)
	}
	return true, nil
}

// tidyUp is removeLeftovers, and remembers that nothing is left.
func (c *actionClient) tidyUp(wanted []objectKey) error {
	done, err := c.removeLeftovers(wanted)
	if done {
		c.drift.tidy(c.key)
	}
	return err
}

// leftovers returns the objects of the release, as the caches show them, that pods
// read at their start and that are not wanted any more. All of them are known to be
// the release's.
func (c *actionClient) leftovers(wanted []objectKey) (map[objectKey]bool, error) {
	found := map[objectKey]bool{}
	for _, kind := range Kept {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		err := c.Client.List(c.ctx, list, client.InNamespace(c.key.Namespace), client.MatchingFields{IndexKept: c.key.Name})
		if err != nil {
			return nil, fmt.Errorf("list %ss: %w", kind.Kind, err)
		}
		for i := range list.Items {
			object := &list.Items[i]
			key := objectKey{kind, object.Name}
			if metav1.IsControlledBy(object, c.darkroom) && c.applier().owns(object) && !slices.Contains(wanted, key) {
				found[key] = true
			}
		}
	}
	return found, nil
}

// rolledOut tells whether the caches show that all pods of the release are of the
// template that was applied last, and serve.
func (c *actionClient) rolledOut(wanted []objectKey) (bool, error) {
	for _, key := range wanted {
		if key.GroupVersionKind != deployments {
			continue
		}
		live, err := c.Live(c.ctx, key.GroupVersionKind, types.NamespacedName{Namespace: c.key.Namespace, Name: key.name})
		if client.IgnoreNotFound(err) != nil {
			return false, fmt.Errorf("look for %s: %w", key, err)
		}
		deployment, cached := live.(*appsv1.Deployment)
		trace, applied := c.drift.trace(c.key, key)
		if err != nil || !cached || !applied {
			return false, nil //nolint:nilerr // a Deployment that is missing has no pods that serve
		}
		order, err := resourceversion.CompareResourceVersion(deployment.ResourceVersion, trace.resourceVersion)
		if err != nil || order < 0 || !RolledOut(deployment) {
			return false, nil //nolint:nilerr // versions that cannot be compared tell nothing
		}
	}
	return true, nil
}

// RolledOut tells whether all pods of a Deployment are of its present template, and
// as many are available as are wanted.
func RolledOut(deployment *appsv1.Deployment) bool {
	wanted := int32(1)
	if deployment.Spec.Replicas != nil {
		wanted = *deployment.Spec.Replicas
	}
	status := deployment.Status
	return status.ObservedGeneration >= deployment.Generation &&
		status.UpdatedReplicas == status.Replicas &&
		status.AvailableReplicas == status.Replicas &&
		status.Replicas >= wanted
}

// RolloutEnded tells whether a change of an object is the end of a roll-out.
func RolloutEnded(before, after client.Object) bool {
	old, wasDeployment := before.(*appsv1.Deployment)
	now, isDeployment := after.(*appsv1.Deployment)
	return wasDeployment && isDeployment && !RolledOut(old) && RolledOut(now)
}
