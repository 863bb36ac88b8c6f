package release

import (
	"context"
	"errors"
	"fmt"
	"time"

	helmclient "github.com/operator-framework/helm-operator-plugins/pkg/client"
	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	helmrelease "helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Reasons of the events that are recorded on a Darkroom.
const (
	EventInstalled   = "Installed"
	EventUpgraded    = "Upgraded"
	EventRepaired    = "Repaired"
	EventRecovered   = "Recovered"
	EventUninstalled = "Uninstalled"
	EventFailed      = "ReleaseFailed"
)

// pendingPatience is for how long a release that another Helm client left
// pending is taken to be under way.
const pendingPatience = 2 * time.Minute

// descriptionPending marks what this package has under way. A release found with
// it was left by an operator that died: one operator leads, and it handles one
// Darkroom once at a time.
const descriptionPending = "Under way by the Darkroom Operator"

// ErrBusy says that another Helm client is changing the release right now.
var ErrBusy = errors.New("is being changed by another Helm client")

// Recorder records an event on a Darkroom.
type Recorder interface {
	// Event records what was done to a Darkroom. Warning marks what went wrong.
	Event(darkroom client.Object, warning bool, reason, message string)
}

// Config is what a Clients works with.
type Config struct {
	// Chart is what releases are made of. The one that the Helm reconciler hands over
	// is not rendered: it has no default values.
	Chart *chart.Chart
	// Client writes objects.
	Client client.Client
	// Reader reads past the caches.
	Reader client.Reader
	// Live looks an object up in the caches.
	Live LiveLookup
	// Store keeps the releases.
	Store *Store
	// Renderer renders them.
	Renderer *Renderer
	// Recorder records events.
	Recorder Recorder
	// MaxHistory is how many revisions are kept of each release; 0 keeps all.
	MaxHistory int
	// VerifyPeriod is the time between two uncached verifications of a release;
	// 0 means never.
	VerifyPeriod time.Duration
}

// Clients makes an action client for each Darkroom.
type Clients struct {
	Config
	drift *drift
}

// NewClients returns a maker of action clients.
func NewClients(config Config) *Clients {
	return &Clients{Config: config, drift: newDrift()}
}

// ActionClientFor implements helmclient.ActionClientGetter.
func (c *Clients) ActionClientFor(ctx context.Context, darkroom client.Object) (helmclient.ActionInterface, error) {
	return &actionClient{Clients: c, ctx: ctx, darkroom: darkroom, key: client.ObjectKeyFromObject(darkroom)}, nil
}

// Forget drops what is remembered of a Darkroom that is gone.
func (c *Clients) Forget(key types.NamespacedName) {
	c.Store.Forget(key)
	c.Renderer.Forget(key)
	c.drift.forget(key)
}

// actionClient acts for one Darkroom during one reconcile. The interface it
// implements knows no context, so it holds the reconcile's.
type actionClient struct {
	*Clients
	ctx      context.Context
	darkroom client.Object
	key      types.NamespacedName
}

var _ helmclient.ActionInterface = (*actionClient)(nil)

// Config implements helmclient.ActionInterface. This client has no use for Helm's
// configuration.
func (c *actionClient) Config() *action.Configuration {
	return &action.Configuration{}
}

// Get returns the last revision of the release, or driver.ErrReleaseNotFound. A
// revision that was left under way, or that somebody uninstalled, is returned as
// failed, so that the reconciler makes a new one.
func (c *actionClient) Get(string, ...helmclient.GetOption) (*helmrelease.Release, error) {
	last, err := c.Store.Last(c.ctx, c.key)
	if err != nil {
		return nil, err
	}
	c.recall()
	status := last.Info.Status
	switch {
	case status == helmrelease.StatusUninstalled: // `helm uninstall --keep-history`
		last.SetStatus(helmrelease.StatusFailed, last.Info.Description)
		return last, nil
	case !status.IsPending() && status != helmrelease.StatusUninstalling:
		return last, nil
	case last.Info.Description != descriptionPending && time.Since(lastTouched(last)) < pendingPatience:
		return nil, fmt.Errorf("release %s %w (%s, revision %d): it is taken over if it still is in %s",
			c.key, ErrBusy, status, last.Version, pendingPatience)
	}
	if last, err = c.Store.Read(c.ctx, c.key); err != nil {
		return nil, err
	}
	c.Recorder.Event(c.darkroom, true, EventRecovered,
		fmt.Sprintf("Revision %d of the release was left %s; it is done again", last.Version, status))
	last.SetStatus(helmrelease.StatusFailed, "Interrupted: left "+status.String())
	if err := c.Store.Update(c.ctx, c.darkroom, last); err != nil {
		return nil, err
	}
	return last, nil
}

// lastTouched is when a Helm client last began something with a release.
func lastTouched(release *helmrelease.Release) time.Time {
	if release.Info.Deleted.After(release.Info.LastDeployed) {
		return release.Info.Deleted.Time
	}
	return release.Info.LastDeployed.Time
}

// History returns all revisions of the release, the newest first.
func (c *actionClient) History(string, ...helmclient.HistoryOption) ([]*helmrelease.Release, error) {
	releases, err := c.Store.History(c.ctx, c.key)
	if errors.Is(err, driver.ErrReleaseNotFound) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("history of release %s: %w", c.key, err)
	}
	return releases, nil
}

func (c *actionClient) applier() *applier {
	return &applier{client: c.Client, reader: c.Reader, live: c.Live, drift: c.drift, owner: c.darkroom, key: c.key}
}
