package release

import (
	"errors"
	"fmt"

	helmclient "github.com/operator-framework/helm-operator-plugins/pkg/client"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	helmrelease "helm.sh/helm/v3/pkg/release"
	helmtime "helm.sh/helm/v3/pkg/time"

	"github.com/darkroom-operator/darkroom-operator/internal/release/digest"
	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
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
	next.Info.FirstDeployed = helmtime.Time{Time: c.Clock.Now()}
	return c.deploy(next, nil, nil, options.Description)
}

// Upgrade makes a new revision of the release. With the option DryRun it only returns the
// summary of that revision.
func (c *actionClient) Upgrade(_, _ string, _ *chart.Chart, values map[string]any, opts ...helmclient.UpgradeOption) (*helmrelease.Release, error) {
	options := action.NewUpgrade(&action.Configuration{})
	for _, apply := range opts {
		if err := apply(options); err != nil {
			return nil, fmt.Errorf("upgrade release %s: %w", c.key, err)
		}
	}
	if options.DryRun {
		return c.preview(values)
	}
	next, err := c.Renderer.Render(c.Chart, c.key, values)
	if err != nil {
		return nil, err
	}

	history, err := c.Store.Current(c.ctx, c.darkroom)
	if err != nil {
		return nil, fmt.Errorf("upgrade release %s: %w", c.key, err)
	}
	last := history[0]
	if change := c.changeTo(digest.Identity(next.Manifest)); change != nil {
		apply, err := c.mayApply(change, func() (*helmrelease.Release, *helmrelease.Release, error) { return last, next, nil })
		if err != nil {
			return nil, err
		}
		if !apply {
			return nil, fmt.Errorf("upgrade release %s: %w", c.key, ErrHeld)
		}
	}
	next.Info.FirstDeployed = last.Info.FirstDeployed
	if isRetry(last, next) {
		next.Version = last.Version
		return c.deploy(next, last, history[1:], options.Description)
	}
	next.Version = last.Version + 1
	return c.deploy(next, nil, history, options.Description)
}

// preview returns the summary of the revision that an upgrade would make now: the one that
// Get returned while the change is held back, so that meanwhile that one is maintained.
func (c *actionClient) preview(values map[string]any) (*helmrelease.Release, error) {
	preview, err := c.Renderer.Preview(c.Chart, c.key, values)
	if err != nil {
		return nil, err
	}
	if c.Preflight == nil || c.last == nil {
		return preview, nil
	}
	var pending *change
	if preview.Manifest != c.last.Manifest {
		pending = c.changeTo(preview.Manifest)
	}
	if pending == nil {
		c.Preflight.Forget(c.key)
		return preview, nil
	}
	apply, err := c.mayApply(pending, func() (last, next *helmrelease.Release, err error) {
		if last, err = c.Store.Read(c.ctx, c.darkroom); err == nil {
			next, err = c.Renderer.Render(c.Chart, c.key, values)
		}
		return last, next, err
	})
	if err != nil || apply {
		return preview, err
	}
	return c.last, nil
}

// isRetry reports whether next repeats the last revision, which failed. The retry takes
// its place, so that retries neither fill the history nor push the last good revision out
// of it.
func isRetry(last, next *helmrelease.Release) bool {
	return last.Info.Status == helmrelease.StatusFailed && last.Manifest == next.Manifest &&
		digest.Of(last.Config) == digest.Of(next.Config)
}

// deploy stores a revision as pending, applies its objects, removes those that the Darkroom
// owns besides them, and stores the outcome. A retry of a failed revision is not stored
// before its outcome differs: what fails again and again for the same cause is written once.
// The history has the newest revision and the deployed ones, the newest first, without a retried one.
func (c *actionClient) deploy(next, failed *helmrelease.Release, history []*helmrelease.Release, description string) (*helmrelease.Release, error) {
	objects, err := manifest.Parse(next.Manifest, c.key.Namespace)
	if err != nil {
		return nil, fmt.Errorf("release %s: %w", c.key, err)
	}

	next.Info.LastDeployed = helmtime.Time{Time: c.Clock.Now()}
	if failed == nil {
		next.SetStatus(helmrelease.StatusPendingUpgrade, descriptionPending)
		if next.Version == 1 {
			next.SetStatus(helmrelease.StatusPendingInstall, descriptionPending)
		}
		if err := c.Store.Create(c.ctx, c.darkroom, next); err != nil {
			return nil, err
		}
	}
	err = c.applier().apply(c.ctx, objects)
	if err == nil {
		desired := manifest.Keys(objects)
		c.memory.MarkInSync(c.key, digest.Identity(next.Manifest), desired)
		// Objects that have to wait for the rollout are removed by a later reconcile, once
		// the caches show the apply.
		_, err = c.removeSurplus(desired)
	}
	if err != nil {
		return next, c.fail(next, failed, err)
	}
	c.Renderer.Compact(c.key)
	return next, c.succeed(next, history, description)
}

// fail stores a revision as failed, unless it is stored so already, and returns the cause,
// joined with the errors of doing so.
func (c *actionClient) fail(next, failed *helmrelease.Release, cause error) error {
	verb := "upgrade"
	if next.Version == 1 {
		verb = "install"
	}
	cause = fmt.Errorf("%s release %s: %w", verb, c.key, cause)
	if failed != nil && failed.Info.Description == cause.Error() {
		return cause
	}
	next.SetStatus(helmrelease.StatusFailed, cause.Error())
	return errors.Join(cause, c.Store.Update(c.ctx, c.darkroom, next), c.Store.Prune(c.ctx, c.darkroom, c.MaxHistory))
}

// succeed stores a revision as deployed, and the one deployed before as superseded.
func (c *actionClient) succeed(next *helmrelease.Release, history []*helmrelease.Release, description string) error {
	event, message := EventInstalled, fmt.Sprintf("Installed with chart %s", next.Chart.Metadata.Version)
	if next.Version > 1 {
		event, message = EventUpgraded, fmt.Sprintf("Upgraded to revision %d with chart %s", next.Version, next.Chart.Metadata.Version)
	}
	if description == "" {
		description = message
	}
	// In this order, so that there are never two deployed revisions, even if the operator
	// dies in between.
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
	return c.Store.Prune(c.ctx, c.darkroom, c.MaxHistory)
}
