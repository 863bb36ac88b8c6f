package release

import (
	"fmt"
	"slices"

	helmclient "github.com/operator-framework/helm-operator-plugins/pkg/client"
	"golang.org/x/sync/errgroup"
	helmrelease "helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/internal/metrics"
)

// Uninstall deletes every object that belongs to the Darkroom, and then its revisions.
// Objects and revisions of the same names that belong to others stay. If the Darkroom did not
// complete the adoption of a release, the objects that it took over stay too, without an owner.
// If no revision is stored, the error is driver.ErrReleaseNotFound. Objects that the caches do
// not show yet are deleted by Kubernetes when their owner, the Darkroom, is gone.
//
// A deletion that keeps dependents (kubectl delete --cascade=orphan) deletes nothing: Kubernetes
// takes the owner references away, and what is left is a release of the plain chart.
func (c *actionClient) Uninstall(string, ...helmclient.UninstallOption) (_ *helmrelease.UninstallReleaseResponse, err error) {
	defer c.measure(metrics.Uninstall, &err)()
	if slices.Contains(c.darkroom.GetFinalizers(), metav1.FinalizerOrphanDependents) {
		c.Forget(c.key)
		c.Recorder.Event(c.darkroom, false, EventOrphaned, fmt.Sprintf("All objects stay, as the deletion asks; they are the Helm release %s from now on", c.key.Name))
		return c.uninstalled(), nil
	}
	objects, err := c.inventory(nil)
	if err != nil {
		return nil, fmt.Errorf("uninstall release %s: %w", c.key, err)
	}
	foreign, err := c.revisions.IsForeign(c.ctx)
	if err != nil {
		return nil, fmt.Errorf("uninstall release %s: %w", c.key, err)
	}
	var group errgroup.Group
	group.SetLimit(applyParallelism)
	for _, object := range objects {
		group.Go(func() error {
			if foreign {
				return c.giveBack(object)
			}
			return c.applier().remove(c.ctx, object)
		})
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("uninstall release %s: %w", c.key, err)
	}
	found, err := c.revisions.Delete(c.ctx, 0)
	if err != nil {
		return nil, fmt.Errorf("uninstall release %s: %w", c.key, err)
	}
	c.Forget(c.key)
	if !found {
		return nil, driver.ErrReleaseNotFound
	}
	c.Recorder.Event(c.darkroom, false, EventUninstalled, "Uninstalled with all its objects")
	return c.uninstalled(), nil
}

// uninstalled is the answer that the Helm reconciler expects.
func (c *actionClient) uninstalled() *helmrelease.UninstallReleaseResponse {
	return &helmrelease.UninstallReleaseResponse{Release: &helmrelease.Release{
		Name: c.key.Name, Namespace: c.key.Namespace,
		Info: &helmrelease.Info{Status: helmrelease.StatusUninstalled},
	}}
}

// giveBack ends the ownership of an object, which stays as it is.
func (c *actionClient) giveBack(object owned) error {
	live, err := c.applier().readOwned(c.ctx, object.Kind, object.Name)
	if err != nil || live == nil {
		return err
	}
	return c.setOwner(live, nil, slices.DeleteFunc(live.OwnerReferences, func(owner metav1.OwnerReference) bool {
		return owner.UID == c.darkroom.GetUID()
	}))
}
