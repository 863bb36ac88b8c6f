package release

import (
	"errors"
	"fmt"
	"slices"
	"time"

	helmclient "github.com/operator-framework/helm-operator-plugins/pkg/client"
	helmrelease "helm.sh/helm/v3/pkg/release"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/metrics"
	"github.com/darkroom-operator/darkroom-operator/internal/release/drift"
	"github.com/darkroom-operator/darkroom-operator/internal/release/ownership"
)

// ErrLeaving is returned while the routes of a Darkroom that is being deleted have finalizers of
// others, such as that of a load balancer: they still serve its hosts.
var ErrLeaving = errors.New("waiting until the finalizers of the Ingress or HTTPRoute are removed")

// Uninstall deletes every object that belongs to the Darkroom, and then its revisions.
// Objects and revisions of the same names that belong to others stay. If the Darkroom did not
// complete the adoption of a release, the objects that it took over stay too, without an owner;
// those that it created are deleted.
// Objects that the caches do not show yet are deleted by Kubernetes when their owner, the Darkroom,
// is gone.
//
// A deletion that keeps dependents (kubectl delete --cascade=orphan) deletes the records alone: Kubernetes
// takes the owner references away, and what is left is a release of the plain chart. Records of earlier
// versions of the operator would keep Kubernetes from it, as their keys are not sorted.
func (c *ActionClient) Uninstall(string, ...helmclient.UninstallOption) (*helmrelease.UninstallReleaseResponse, error) {
	began := time.Now()
	event, message, err := c.uninstall()
	if errors.Is(err, ErrLeaving) {
		return nil, err
	}
	c.Metrics.Operated(metrics.Uninstall, began, err)
	if err != nil {
		return nil, fmt.Errorf("uninstall release %s: %w", c.key, err)
	}
	c.Forget(c.key)
	if event != "" {
		c.Recorder.Event(c.darkroom, false, event, message)
	}
	// This is the answer that the Helm reconciler expects.
	return &helmrelease.UninstallReleaseResponse{Release: &helmrelease.Release{
		Name: c.key.Name, Namespace: c.key.Namespace,
		Info: &helmrelease.Info{Status: helmrelease.StatusUninstalled},
	}}, nil
}

// uninstall returns the event that reports its outcome; none if there was nothing to uninstall.
func (c *ActionClient) uninstall() (event, message string, err error) {
	orphaned := fmt.Sprintf("All objects stay, as the deletion asks; they are the Helm release %s from now on", c.key.Name)
	if slices.Contains(c.darkroom.GetFinalizers(), metav1.FinalizerOrphanDependents) {
		return EventOrphaned, orphaned, c.revisions.RemoveRecords(c.ctx)
	}
	adopting, err := c.isAdopting()
	if err != nil {
		return "", "", err
	}
	if err := c.removeObjects(adopting); err != nil {
		return "", "", err
	}
	left, err := c.isLeft()
	if err != nil {
		return "", "", err
	}
	if left && !adopting {
		if isOrphaned, err := c.revisions.AreOrphaned(c.ctx); err != nil || isOrphaned {
			return EventOrphaned, orphaned, err
		}
	}
	found, err := c.revisions.Delete(c.ctx, 0)
	if !found || err != nil {
		return "", "", err
	}
	message = "Uninstalled with all its objects"
	if left {
		message += fmt.Sprintf("; Deployment %s stays: its owner reference was removed", c.key.Name)
	}
	return EventUninstalled, message, nil
}

// removeObjects deletes the objects of the Darkroom. It returns ErrLeaving until its routes are gone. While adopting, it
// gives back those of the release.
func (c *ActionClient) removeObjects(adopting bool) error {
	objects, err := c.inventory(nil)
	if err != nil {
		return err
	}
	err = inParallel(objects, func(object owned) error {
		if adopting {
			return c.giveBack(object)
		}
		return c.remove(object)
	})
	if err != nil {
		return err
	}
	if !adopting && slices.ContainsFunc(objects, isRouteWithFinalizers) {
		return ErrLeaving
	}
	return nil
}

// isAdopting reports whether the Darkroom began to adopt a release and did not complete that. The annotation
// that asked for it may be gone: clients that replace a Darkroom remove it. What others store in the namespace
// of one that is deployed cannot make it so.
func (c *ActionClient) isAdopting() (bool, error) {
	if v1alpha1.IsConditionTrue(c.darkroom.Status.Conditions, v1alpha1.ConditionDeployed) {
		return false, nil
	}
	return c.revisions.IsForeign(c.ctx)
}

// isLeft reports whether the Deployment has the label of the Darkroom, and no controller any more: it was left to
// the user, alone or with all other objects before the operator saw the deletion.
func (c *ActionClient) isLeft() (bool, error) {
	deployment, err := c.readMetadata(deployments, c.key.Name)
	if err != nil || deployment == nil {
		return false, err
	}
	return metav1.GetControllerOfNoCopy(deployment) == nil && deployment.Labels[v1alpha1.LabelDarkroom] == c.key.Name, nil
}

// isRouteWithFinalizers reports whether an object is an Ingress or HTTPRoute that stays until others
// have removed their finalizers.
func isRouteWithFinalizers(object owned) bool {
	return isRoute(object.Kind.GroupKind()) && object.live != nil && len(object.live.GetFinalizers()) > 0
}

// annotationField is the annotation that Helm sets on the objects of a release.
var annotationField = fieldpath.MakePathOrDie("metadata", "annotations", ownership.AnnotationReleaseName)

// giveBack ends the ownership of an object that Helm made, which stays as it is. One that was created for
// the adoption is deleted: nobody but the operator has set Helm's annotation.
func (c *ActionClient) giveBack(object owned) error {
	live, err := c.readOwned(object.Kind, object.Name)
	if err != nil || live == nil {
		return err
	}
	adopted, err := drift.SetByOthers(FieldManager, live.ManagedFields, annotationField)
	if err != nil {
		return fmt.Errorf("read the managers of %s: %w", object, err)
	}
	if !adopted {
		return c.remove(object)
	}
	return c.setOwner(live, nil, slices.DeleteFunc(live.OwnerReferences, func(owner metav1.OwnerReference) bool {
		return owner.UID == c.darkroom.GetUID()
	}))
}
