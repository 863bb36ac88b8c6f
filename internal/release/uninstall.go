package release

import (
	"fmt"

	helmclient "github.com/operator-framework/helm-operator-plugins/pkg/client"
	"golang.org/x/sync/errgroup"
	helmrelease "helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"
)

// Uninstall deletes every object that belongs to the Darkroom, and then its revisions.
// Objects and revisions of the same names that belong to others stay. If no revision is
// stored, the error is driver.ErrReleaseNotFound. Objects that the caches do not show yet
// are deleted by Kubernetes when their owner, the Darkroom, is gone.
func (c *actionClient) Uninstall(string, ...helmclient.UninstallOption) (*helmrelease.UninstallReleaseResponse, error) {
	objects, err := c.inventory(nil)
	if err != nil {
		return nil, fmt.Errorf("uninstall release %s: %w", c.key, err)
	}
	var group errgroup.Group
	group.SetLimit(applyParallelism)
	for _, object := range objects {
		group.Go(func() error { return c.applier().remove(c.ctx, object) })
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("uninstall release %s: %w", c.key, err)
	}
	found, err := c.Store.Delete(c.ctx, c.darkroom)
	if err != nil {
		return nil, fmt.Errorf("uninstall release %s: %w", c.key, err)
	}
	c.Forget(c.key)
	if !found {
		return nil, driver.ErrReleaseNotFound
	}
	c.Recorder.Event(c.darkroom, false, EventUninstalled, "Uninstalled with all its objects")
	return &helmrelease.UninstallReleaseResponse{Release: &helmrelease.Release{
		Name: c.key.Name, Namespace: c.key.Namespace,
		Info: &helmrelease.Info{Status: helmrelease.StatusUninstalled},
	}}, nil
}
