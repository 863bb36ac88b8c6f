package release

import (
	"errors"
	"fmt"
	"maps"

	helmclient "github.com/operator-framework/helm-operator-plugins/pkg/client"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	helmrelease "helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"
	helmtime "helm.sh/helm/v3/pkg/time"
)

// Install installs the first revision of the release.
func (c *actionClient) Install(_, _ string, _ *chart.Chart, values map[string]any, opts ...helmclient.InstallOption) (*helmrelease.Release, error) {
	options := action.NewInstall(&action.Configuration{})
	for _, apply := range opts {
		if err := apply(options); err != nil {
			return nil, fmt.Errorf("install release %s: %w", c.key, err)
		}
	}
	next, err := c.Renderer.Render(c.Chart, c.key, values)
	if err != nil {
		return nil, err
	}
	next.Info.FirstDeployed = helmtime.Now()
	return c.deploy(next, nil, helmrelease.StatusPendingInstall, options.Description)
}

// Upgrade makes a new revision of the release. With the option DryRun it only
// returns what that would be.
func (c *actionClient) Upgrade(_, _ string, _ *chart.Chart, values map[string]any, opts ...helmclient.UpgradeOption) (*helmrelease.Release, error) {
	options := action.NewUpgrade(&action.Configuration{})
	for _, apply := range opts {
		if err := apply(options); err != nil {
			return nil, fmt.Errorf("upgrade release %s: %w", c.key, err)
		}
	}
	if options.DryRun {
		return c.Renderer.Preview(c.Chart, c.key, values)
	}
	next, err := c.Renderer.Render(c.Chart, c.key, values)
	if err != nil {
		return nil, err
	}

	history, err := c.Store.History(c.ctx, c.key)
	if err != nil {
		return nil, fmt.Errorf("upgrade release %s: %w", c.key, err)
	}
	next.Version = history[0].Version + 1
	next.Info.FirstDeployed = history[0].Info.FirstDeployed
	return c.deploy(next, history, helmrelease.StatusPendingUpgrade, options.Description)
}

// deploy stores a revision as pending, applies its objects, removes those that
// earlier revisions had and it has not, and stores how it went. The history is
// that of the release, the newest first.
func (c *actionClient) deploy(next *helmrelease.Release, history []*helmrelease.Release, pending helmrelease.Status, description string) (*helmrelease.Release, error) {
	objects, err := parseManifest(next.Manifest, c.key.Namespace)
	if err != nil {
		return nil, fmt.Errorf("release %s: %w", c.key, err)
	}
	earlier, err := c.objectsOf(history)
	if err != nil {
		return nil, fmt.Errorf("release %s: %w", c.key, err)
	}

	next.Info.LastDeployed = helmtime.Now()
	next.SetStatus(pending, descriptionPending)
	if err := c.Store.Create(c.ctx, c.darkroom, next); err != nil {
		return nil, err
	}

	applier := c.applier()
	err = applier.apply(c.ctx, objects, earlier)
	if err == nil {
		for _, object := range objects {
			delete(earlier, keyOf(object))
		}
		keep(earlier)
		err = applier.remove(c.ctx, earlier)
	}
	if err != nil {
		return next, c.fail(next, pending, err)
	}
	wanted := c.drift.settle(c.key, identityOf(next.Manifest), objects)
	c.Renderer.Compact(c.key)
	if err := c.succeed(next, history, description); err != nil {
		return next, err
	}
	// If an interrupted revision had the same pods, they may be rolled out already, and
	// nobody would tell. The caches may not show all yet, so it is looked at again.
	_, err = c.removeLeftovers(wanted)
	return next, err
}

// fail stores a revision as failed and returns the cause, with whatever went
// wrong on the way.
func (c *actionClient) fail(next *helmrelease.Release, pending helmrelease.Status, cause error) error {
	verb := "install"
	if pending == helmrelease.StatusPendingUpgrade {
		verb = "upgrade"
	}
	cause = fmt.Errorf("%s release %s: %w", verb, c.key, cause)
	next.SetStatus(helmrelease.StatusFailed, cause.Error())
	return errors.Join(cause, c.Store.Update(c.ctx, c.darkroom, next), c.Store.Prune(c.ctx, c.key, c.MaxHistory))
}

// succeed stores a revision as deployed, and the one deployed before as superseded.
func (c *actionClient) succeed(next *helmrelease.Release, history []*helmrelease.Release, description string) error {
	event, message := EventInstalled, fmt.Sprintf("Installed with chart %s", next.Chart.Metadata.Version)
	if len(history) > 0 {
		event, message = EventUpgraded, fmt.Sprintf("Upgraded to revision %d with chart %s", next.Version, next.Chart.Metadata.Version)
	}
	if description == "" {
		description = message
	}
	// In this order, so that an operator that dies in between leaves no two deployed.
	for _, earlier := range history {
		if earlier.Info.Status != helmrelease.StatusDeployed {
			continue
		}
		earlier.Info.Status = helmrelease.StatusSuperseded
		if err := c.Store.Update(c.ctx, c.darkroom, earlier); err != nil {
			return err
		}
	}
	next.SetStatus(helmrelease.StatusDeployed, description)
	if err := c.Store.Deployed(c.ctx, c.darkroom, next, c.record()); err != nil {
		return err
	}
	c.Recorder.Event(c.darkroom, false, event, message)
	return c.Store.Prune(c.ctx, c.key, c.MaxHistory)
}

// objectsOf returns the objects that revisions, the newest first, may have left in
// the cluster: those of the last deployed one and of all that were tried since.
// The value tells whether an object is known to be the release's: what a failed
// revision names may belong to somebody else, which may be why it failed.
func (c *actionClient) objectsOf(history []*helmrelease.Release) (map[objectKey]bool, error) {
	known := map[objectKey]bool{}
	for _, revision := range history {
		deployed := revision.Info.Status == helmrelease.StatusDeployed
		objects, err := parseManifest(revision.Manifest, c.key.Namespace)
		if err != nil {
			return nil, fmt.Errorf("revision %d: %w", revision.Version, err)
		}
		for _, object := range objects {
			known[keyOf(object)] = known[keyOf(object)] || deployed
		}
		if deployed {
			break
		}
	}
	return known, nil
}

// Uninstall deletes every object of the release and then the release itself. If
// nothing is stored of it, the error is driver.ErrReleaseNotFound; objects that
// may still be there go with their owner, the Darkroom.
func (c *actionClient) Uninstall(string, ...helmclient.UninstallOption) (*helmrelease.UninstallReleaseResponse, error) {
	history, err := c.Store.History(c.ctx, c.key)
	if errors.Is(err, driver.ErrReleaseNotFound) {
		c.Forget(c.key)
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("uninstall release %s: %w", c.key, err)
	}
	objects, err := c.objectsOf(history)
	if err != nil {
		return nil, fmt.Errorf("uninstall release %s: %w", c.key, err)
	}
	leftovers, err := c.leftovers(nil)
	if err != nil {
		return nil, fmt.Errorf("uninstall release %s: %w", c.key, err)
	}
	maps.Copy(objects, leftovers)
	if err := c.applier().remove(c.ctx, objects); err != nil {
		return nil, fmt.Errorf("uninstall release %s: %w", c.key, err)
	}
	if err := c.Store.Delete(c.ctx, c.key); err != nil {
		return nil, fmt.Errorf("uninstall release %s: %w", c.key, err)
	}
	c.Forget(c.key)
	c.Recorder.Event(c.darkroom, false, EventUninstalled, "Uninstalled with all its objects")
	last := history[0]
	last.SetStatus(helmrelease.StatusUninstalled, "Uninstallation complete")
	return &helmrelease.UninstallReleaseResponse{Release: last}, nil
}
