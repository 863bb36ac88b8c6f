package release

import (
	"errors"
	"fmt"
	"slices"
	"time"

	helmclient "github.com/operator-framework/helm-operator-plugins/pkg/client"
	helmrelease "helm.sh/helm/v3/pkg/release"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/metrics"
)

// ErrLeaving is returned while other controllers' finalizers, such as one of a load balancer, keep
// the routes of a Darkroom that is being deleted: the routes still serve its hosts.
var ErrLeaving = errors.New("waiting until the finalizers of the Ingress or HTTPRoute are removed")

// Uninstall deletes every object that belongs to the Darkroom, and then its revisions.
// Objects and revisions of the same names that belong to others stay.
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
	if err := c.removeObjects(); err != nil {
		return "", "", err
	}
	left, err := c.isLeft()
	if err != nil {
		return "", "", err
	}
	if left {
		if isOrphaned, err := c.revisions.AreOrphaned(c.ctx); err != nil || isOrphaned {
			return EventOrphaned, orphaned, err
		}
	}
	found, err := c.revisions.Delete(c.ctx)
	if !found || err != nil {
		return "", "", err
	}
	message = "Uninstalled with all its objects"
	if left {
		message += fmt.Sprintf("; Deployment %s stays: its owner reference was removed", c.key.Name)
	}
	return EventUninstalled, message, nil
}

// removeObjects deletes the objects of the Darkroom. It returns ErrLeaving until its routes are gone.
func (c *ActionClient) removeObjects() error {
	objects, err := c.inventory(nil)
	if err != nil {
		return err
	}
	if err := inParallel(objects, c.remove); err != nil {
		return err
	}
	if slices.ContainsFunc(objects, isRouteWithFinalizers) {
		return ErrLeaving
	}
	return nil
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
