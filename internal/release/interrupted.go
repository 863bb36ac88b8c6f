package release

import (
	"fmt"
	"time"

	helmrelease "helm.sh/helm/v3/pkg/release"
)

// recover marks the last revision as failed if an interrupted operation left it pending.
func (c *ActionClient) recover(last *helmrelease.Release) error {
	left, err := c.endInterrupted(last)
	if err != nil || left == "" {
		return err
	}
	c.Metrics.Recovered()
	c.Recorder.Event(c.darkroom, true, EventRecovered,
		fmt.Sprintf("Retrying revision %d, left %s by an interrupted operation", last.Version, left))
	return c.revisions.Update(c.ctx, last)
}

// endInterrupted marks an unfinished revision as failed and returns its previous status; empty if the revision is
// finished. The error is ErrBusy while another Helm client may be working on the revision.
func (c *ActionClient) endInterrupted(revision *helmrelease.Release) (left helmrelease.Status, err error) {
	status := revision.Info.Status
	if !status.IsPending() && status != helmrelease.StatusUninstalling {
		return "", nil
	}
	if revision.Info.Description != descriptionPending && inProgress(revision, c.revisions.Seen(), c.Clock.Now()) {
		return "", fmt.Errorf("release %s: %w (%s, revision %d); the operator takes over after %s",
			c.key, ErrBusy, status, revision.Version, pendingTimeout)
	}
	revision.SetStatus(helmrelease.StatusFailed, "Interrupted in status "+status.String())
	return status, nil
}

// inProgress reports whether another Helm client may be working on a pending release that this process first saw at the
// time seen. The clock of the other client may be ahead of ours, so the earlier of the two times counts.
func inProgress(pending *helmrelease.Release, seen, now time.Time) bool {
	began := pending.Info.LastDeployed.Time
	if pending.Info.Deleted.After(pending.Info.LastDeployed) {
		began = pending.Info.Deleted.Time
	}
	if began.After(seen) {
		began = seen
	}
	return now.Sub(began) < pendingTimeout
}
