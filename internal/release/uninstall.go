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

// ErrLeaving is returned while a Darkroom is being deleted and its routes have finalizers of other controllers, such as
// a load balancer's. The routes still serve its hosts.
var ErrLeaving = errors.New("waiting for other controllers to remove their finalizers from the Ingress or HTTPRoute")

// Uninstall deletes every object that belongs to the Darkroom, and then its revisions. Objects and revisions of the
// same names that belong to others are kept. Objects that the caches do not show yet are garbage-collected after the
// Darkroom is gone.
//
// A deletion that keeps dependents (kubectl delete --cascade=orphan) deletes only the records. Kubernetes removes the
// owner references, and the remaining objects are a release of the plain chart. The records have to be deleted because
// the garbage collector cannot patch records of earlier operator versions, whose keys are not sorted.
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
	// The Helm reconciler expects this response.
	return &helmrelease.UninstallReleaseResponse{Release: &helmrelease.Release{
		Name: c.key.Name, Namespace: c.key.Namespace,
		Info: &helmrelease.Info{Status: helmrelease.StatusUninstalled},
	}}, nil
}

// uninstall returns the event that reports the outcome; empty if there was nothing to uninstall.
func (c *ActionClient) uninstall() (event, message string, err error) {
	if slices.Contains(c.darkroom.GetFinalizers(), metav1.FinalizerOrphanDependents) {
		message = fmt.Sprintf("All objects are kept, as requested by the deletion, and remain as the Helm release %s", c.key.Name)
		return EventOrphaned, message, c.revisions.RemoveRecords(c.ctx)
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
			// A user may have removed the owner references of only some objects. The other objects are deleted by now.
			message = fmt.Sprintf("Objects without an owner reference are kept, and remain as the Helm release %s", c.key.Name)
			return EventOrphaned, message, err
		}
	}
	found, err := c.revisions.Delete(c.ctx)
	if !found || err != nil {
		return "", "", err
	}
	message = "Uninstalled with all its objects"
	if left {
		message += fmt.Sprintf("; Deployment %s is kept because its owner reference was removed", c.key.Name)
	}
	return EventUninstalled, message, nil
}

// removeObjects deletes the objects of the Darkroom. It returns ErrLeaving until the routes are gone.
func (c *ActionClient) removeObjects() error {
	objects, err := c.ownedExcept(nil)
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

// isLeft reports whether the Deployment has the label of the Darkroom but no controller. The user then wants to keep
// the Deployment, alone or with all other objects, because the owner reference was removed before the operator noticed
// the deletion.
func (c *ActionClient) isLeft() (bool, error) {
	deployment, err := c.readMetadata(deployments, c.key.Name)
	if err != nil || deployment == nil {
		return false, err
	}
	return metav1.GetControllerOfNoCopy(deployment) == nil && deployment.Labels[v1alpha1.LabelDarkroom] == c.key.Name, nil
}

// isRouteWithFinalizers reports whether an object is an Ingress or HTTPRoute that remains until others remove their
// finalizers.
func isRouteWithFinalizers(object owned) bool {
	return isRoute(object.Kind.GroupKind()) && object.live != nil && len(object.live.GetFinalizers()) > 0
}
