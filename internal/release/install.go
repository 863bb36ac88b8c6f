package release

import (
	"errors"
	"fmt"
	"strings"
	"time"

	helmclient "github.com/operator-framework/helm-operator-plugins/pkg/client"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	helmrelease "helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/darkroom-operator/darkroom-operator/internal/metrics"
	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
	"github.com/darkroom-operator/darkroom-operator/internal/release/storage"
)

// Install installs the first revision of the release.
func (c *ActionClient) Install(
	string, string, *chart.Chart, map[string]any, ...helmclient.InstallOption,
) (_ *helmrelease.Release, err error) {
	defer c.measure(metrics.Install, &err)()
	rendering, err := c.withObjects()
	if err != nil {
		return nil, err
	}
	rendering.release.Info.FirstDeployed.Time = c.Clock.Now()
	return c.deploy(rendering, nil, nil)
}

// Upgrade deploys a new revision of the release. With the option DryRun it only returns the summary of the revision.
func (c *ActionClient) Upgrade(
	_, _ string, _ *chart.Chart, _ map[string]any, opts ...helmclient.UpgradeOption,
) (_ *helmrelease.Release, err error) {
	if isDryRun(opts) {
		if c.rendering == nil {
			return nil, fmt.Errorf("release %s: %w", c.key, errNotRendered)
		}
		// The library compares this digest with the one that Get returns in place of the manifest.
		return &helmrelease.Release{Manifest: c.rendering.manifest, Info: &helmrelease.Info{}}, nil
	}
	defer c.measure(metrics.Upgrade, &err)()
	rendering, err := c.withObjects()
	if err != nil {
		return nil, err
	}
	next := rendering.release
	history, err := c.revisions.Current(c.ctx)
	if errors.Is(err, driver.ErrReleaseNotFound) {
		err = storage.ErrDeleted // the Helm reconciler has just read a revision
	}
	if err != nil {
		return nil, fmt.Errorf("upgrade release %s: %w", c.key, err)
	}
	last := history[0]
	if err := c.recover(last); err != nil {
		return nil, err
	}
	if err := c.warnOfStrays(last, rendering.objects); err != nil {
		return nil, err
	}
	next.Info.FirstDeployed = last.Info.FirstDeployed
	if isRetry(last, next) {
		next.Version = last.Version
		return c.deploy(rendering, last, history[1:])
	}
	next.Version = last.Version + 1
	return c.deploy(rendering, nil, history)
}

// measure starts measuring an operation. The returned function records the duration and the error, unless the operation
// only has to wait.
func (c *ActionClient) measure(operation string, err *error) func() {
	began := time.Now()
	return func() {
		if !isWaiting(*err) {
			c.Metrics.Operated(operation, began, *err)
		}
	}
}

// isWaiting reports whether an error means that the operation has to wait and has not failed: the namespace is being
// deleted, another Helm client is changing the release, or a revision was deleted.
func isWaiting(err error) bool {
	return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) || errors.Is(err, ErrBusy) ||
		errors.Is(err, storage.ErrDeleted)
}

// isDryRun reports whether the options of an upgrade include DryRun.
func isDryRun(opts []helmclient.UpgradeOption) bool {
	var upgrade action.Upgrade
	for _, apply := range opts {
		if err := apply(&upgrade); err != nil {
			return false
		}
	}
	return upgrade.DryRun
}

// isRetry reports whether next repeats the last revision, which failed. A retry reuses the number of that revision, so
// that retries do not push the last good revision out of the history.
func isRetry(last, next *helmrelease.Release) bool {
	return last.Info.Status == helmrelease.StatusFailed && last.Manifest == next.Manifest &&
		manifest.Digest(last.Config) == manifest.Digest(next.Config)
}

// deploy stores a revision as pending, applies its objects, prunes, and stores the outcome. A retry of a failed
// revision is stored only if its outcome differs, so repeated failures with the same cause are written once. history
// contains the newest revision and the deployed ones, newest first, without the retried revision.
func (c *ActionClient) deploy(
	rendering *rendering, failed *helmrelease.Release, history []*helmrelease.Release,
) (*helmrelease.Release, error) {
	next := rendering.release
	next.Info.LastDeployed.Time = c.Clock.Now()
	if failed == nil {
		if err := c.begin(next); err != nil {
			return nil, err
		}
	}
	if err := c.apply(rendering.objects); err != nil {
		return next, c.fail(next, failed, err)
	}
	return next, c.succeed(next, failed, history)
}

// begin stores a revision as pending.
func (c *ActionClient) begin(next *helmrelease.Release) error {
	next.SetStatus(helmrelease.StatusPendingUpgrade, descriptionPending)
	if next.Version == 1 {
		next.SetStatus(helmrelease.StatusPendingInstall, descriptionPending)
	}
	err := c.revisions.Create(c.ctx, next)
	if !isQuotaExceeded(err) {
		return err
	}
	if pruned, pruneErr := c.revisions.PruneOldest(c.ctx); pruneErr != nil || !pruned {
		return errors.Join(err, pruneErr)
	}
	return c.revisions.Create(c.ctx, next)
}

// isQuotaExceeded reports whether a quota rejected a revision; deleting earlier revisions may help. The message has to
// be checked, because rejections by policies have the same reason.
func isQuotaExceeded(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota")
}

// fail stores a revision as failed, unless it is already stored as failed, and returns the cause joined with any
// errors.
func (c *ActionClient) fail(next, failed *helmrelease.Release, cause error) error {
	verb := "upgrade"
	if next.Version == 1 {
		verb = "install"
	}
	cause = fmt.Errorf("%s release %s: %w", verb, c.key, cause)
	if failed != nil && failed.Info.Description == cause.Error() {
		return cause
	}
	next.SetStatus(helmrelease.StatusFailed, cause.Error())
	var recordErr error
	if !errors.Is(cause, storage.ErrNotRecorded) {
		recordErr = c.revisions.Record(c.ctx, next)
	}
	return errors.Join(cause, recordErr, c.revisions.Update(c.ctx, next), c.revisions.Prune(c.ctx, c.MaxHistory))
}

// succeed stores a revision as deployed and the previously deployed ones as superseded. failed is the revision that
// next retries; nil if there is none.
func (c *ActionClient) succeed(next, failed *helmrelease.Release, history []*helmrelease.Release) error {
	event, message := EventInstalled, fmt.Sprintf("Installed with chart %s", next.Chart.Metadata.Version)
	if next.Version > 1 {
		event, message = EventUpgraded, fmt.Sprintf("Upgraded to revision %d with chart %s", next.Version,
			next.Chart.Metadata.Version)
	}
	next.SetStatus(helmrelease.StatusDeployed, message)
	// The order guarantees that each deployed revision has a record, and that there are never two deployed revisions,
	// even if the operator dies in between.
	if err := c.revisions.Record(c.ctx, next); err != nil {
		return c.fail(next, failed, err)
	}
	for _, earlier := range history {
		if earlier.Info.Status != helmrelease.StatusDeployed {
			continue
		}
		earlier.Info.Status = helmrelease.StatusSuperseded
		if err := c.revisions.Update(c.ctx, earlier); err != nil {
			return err
		}
	}
	if err := c.revisions.Update(c.ctx, next); err != nil {
		return err
	}
	c.Recorder.Event(c.darkroom, false, event, message)
	return c.revisions.Prune(c.ctx, c.MaxHistory)
}
