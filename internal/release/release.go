package release

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	helmclient "github.com/operator-framework/helm-operator-plugins/pkg/client"
	"helm.sh/helm/v3/pkg/action"
	helmrelease "helm.sh/helm/v3/pkg/release"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/metrics"
	"github.com/darkroom-operator/darkroom-operator/internal/release/drift"
	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
	"github.com/darkroom-operator/darkroom-operator/internal/release/render"
	"github.com/darkroom-operator/darkroom-operator/internal/release/storage"
)

// Reasons of the events that are recorded on a Darkroom.
const (
	// EventInstalled: the first revision of the release was installed.
	EventInstalled = "Installed"
	// EventUpgraded: a new revision of the release was applied.
	EventUpgraded = "Upgraded"
	// EventRepaired: objects that were deleted or changed were restored.
	EventRepaired = "Repaired"
	// EventContested: an object is changed repeatedly by another writer.
	EventContested = "Contested"
	// EventRecovered: an interrupted operation is retried.
	EventRecovered = "Recovered"
	// EventStrayObjects: another Helm client left objects that belong to nobody.
	EventStrayObjects = "StrayObjects"
	// EventUninstalled: the release and its objects were deleted.
	EventUninstalled = "Uninstalled"
	// EventOrphaned: the Darkroom was deleted without its objects.
	EventOrphaned = "Orphaned"
	// EventFailed: an install, upgrade, repair or uninstall failed.
	EventFailed = "ReleaseFailed"
)

// pendingTimeout is how long a release that another Helm client left pending is assumed
// to be in progress.
const pendingTimeout = 2 * time.Minute

// descriptionPending marks the revisions that this operator is working on. One that is
// found with it was left by an operator that died: one operator leads, and it handles one
// Darkroom once at a time.
const descriptionPending = "In progress (Darkroom Operator)"

// ErrBusy is returned while another Helm client is changing the release.
var ErrBusy = errors.New("another Helm client is changing the release")

// Recorder records an event on a Darkroom.
type Recorder interface {
	// Event records an event. Warning marks failures.
	Event(darkroom *v1alpha1.Darkroom, warning bool, reason, message string)
}

// Config is the configuration of Releases. All fields but Full and the last two are required.
type Config struct {
	// Chart is the chart of the releases. The one that the Helm reconciler passes is not
	// rendered: it has no default values.
	Chart *render.Chart
	// Client writes objects.
	Client client.Client
	// Uncached reads past the caches.
	Uncached client.Reader
	// Cached returns an object as a cache has it: nil and no error for a kind that is not cached, and the API's error
	// NotFound for an object that is missing. The object is the cache's own and must not be changed.
	Cached func(context.Context, schema.GroupKind, types.NamespacedName) (metav1.Object, error)
	// Owned visits all objects that have a Darkroom's key in the index ownership.Index, as the caches have them. Those
	// of other Darkrooms may be among them. They are the caches' own and must not be changed.
	Owned func(_ context.Context, darkroom client.Object, visit func(schema.GroupVersionKind, metav1.Object)) error
	// Kinds returns the kinds of objects that a release may have in this cluster.
	Kinds func() []schema.GroupVersionKind
	// Full reports whether the limit of Darkrooms that replace their pods because of the operator is reached, without
	// this one. Nil means that there is no limit.
	Full func(_ context.Context, darkroom types.NamespacedName) (bool, error)
	// Store keeps the releases.
	Store *storage.Store
	// Renderer renders them.
	Renderer *render.Renderer
	// Recorder records events, and Metrics counts operations.
	Recorder Recorder
	Metrics  *metrics.Metrics
	// Clock measures waits.
	Clock clock.PassiveClock
	// MaxHistory is the number of revisions kept of each release; 0 keeps all.
	MaxHistory int
}

// Releases are the Helm releases of all Darkrooms. It renders them, makes the action clients
// that write them, and remembers them.
type Releases struct {
	Config

	mu    sync.Mutex
	known map[types.NamespacedName]*memory
}

// memory is all that is remembered of the release of one Darkroom. Without it, each reconcile
// would read the revision, render the chart and apply every object.
type memory struct {
	uid types.UID
	// revisions and rendering are used by the reconcile of the Darkroom, of which there is one
	// at a time.
	revisions storage.Memory
	rendering rendering
	// objects is also used by the status controller.
	objects drift.Memory
}

// New returns Releases with a configuration.
func New(config Config) *Releases {
	return &Releases{Config: config, known: map[types.NamespacedName]*memory{}}
}

// of returns what is remembered of the release of a Darkroom. What was remembered of an earlier
// Darkroom of the same name is dropped.
func (r *Releases) of(darkroom client.Object) *memory {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := client.ObjectKeyFromObject(darkroom)
	known := r.known[key]
	if known == nil || known.uid != darkroom.GetUID() {
		known = &memory{uid: darkroom.GetUID()}
		r.known[key] = known
	}
	return known
}

// recall returns what is remembered of the release of a Darkroom, which may be nothing.
func (r *Releases) recall(key types.NamespacedName) *memory {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, found := r.known[key]; found {
		return known
	}
	return &memory{}
}

// Forget drops all that is remembered of the release of a Darkroom.
func (r *Releases) Forget(key types.NamespacedName) {
	r.mu.Lock()
	delete(r.known, key)
	r.mu.Unlock()
}

// ClientFor returns the action client of a Darkroom for one reconcile.
func (r *Releases) ClientFor(ctx context.Context, darkroom *v1alpha1.Darkroom) *ActionClient {
	known := r.of(darkroom)
	return &ActionClient{
		Releases: r, ctx: ctx, darkroom: darkroom, key: client.ObjectKeyFromObject(darkroom),
		memory: known, revisions: r.Store.Of(darkroom, &known.revisions),
	}
}

// Holds returns the objects of a Darkroom that are not restored for a while.
func (r *Releases) Holds(key types.NamespacedName) []drift.Hold {
	return r.recall(key).objects.Holds(r.Clock.Now())
}

// Shown reports whether a cache shows an object of a Darkroom as the operator applied it last, or as it
// was changed since. It is true if the operator has not applied it in this process.
func (r *Releases) Shown(key types.NamespacedName, object manifest.Key, live metav1.Object) bool {
	trace, applied := r.recall(key).objects.Trace(object)
	return !applied || trace.IsShown(live)
}

// Digest returns the digest of the objects of a release that were applied as they are desired.
func (r *Releases) Digest(darkroom client.Object) string { return r.of(darkroom).objects.Digest() }

// AppliedDeployment returns the Deployment of a Darkroom as this process applied it last; nil if it has not.
func (r *Releases) AppliedDeployment(darkroom client.Object) *v1alpha1.AppliedDeployment {
	trace, found := r.of(darkroom).objects.Trace(DeploymentOf(client.ObjectKeyFromObject(darkroom)))
	if !found || trace.Generation == 0 {
		return nil
	}
	return &v1alpha1.AppliedDeployment{UID: trace.UID, Generation: trace.Generation}
}

// ActionClient acts for one Darkroom during one reconcile. It installs, upgrades and repairs what
// Render has rendered; without that, the release can only be read and uninstalled. The interface
// that it implements knows no context, so it holds the reconcile's.
type ActionClient struct {
	*Releases
	// Inputs identifies what users determine of the release in addition to the spec.
	Inputs string
	// Postponed is set if the Deployment was left out because it has to wait for the rollouts of others.
	Postponed bool

	ctx       context.Context
	darkroom  *v1alpha1.Darkroom
	key       types.NamespacedName
	memory    *memory
	revisions *storage.Revisions
	// desired is the rendered release; nil before Render.
	desired *desired
	// mayRoll is set if the Deployment may replace its pods now because of the operator.
	mayRoll bool
	// last is the revision that Get returned before.
	last *helmrelease.Release
}

var _ helmclient.ActionInterface = (*ActionClient)(nil)

// Config implements helmclient.ActionInterface. This client does not use Helm's
// configuration.
func (c *ActionClient) Config() *action.Configuration {
	return &action.Configuration{}
}

// Get returns the last revision of the release, or driver.ErrReleaseNotFound. The error is
// storage.ErrForeignRelease if the release does not belong to the Darkroom. A revision that
// an operator left pending, or that was uninstalled with its history kept, is returned as
// failed, so that the reconciler makes a new one. It asks three times.
func (c *ActionClient) Get(string, ...helmclient.GetOption) (*helmrelease.Release, error) {
	if c.last != nil {
		return storage.Copy(c.last), nil
	}
	last, err := c.revisions.Last(c.ctx)
	if err != nil {
		return nil, err
	}
	if _, err := c.endInterrupted(last); err != nil {
		return nil, err
	}
	if last.Info.Status == helmrelease.StatusUninstalled { // `helm uninstall --keep-history`
		last.SetStatus(helmrelease.StatusFailed, last.Info.Description)
	}
	c.last = last
	return storage.Copy(last), nil
}

// IsDeployed reports whether the release that Get found has a deployed revision, as far as is known.
func (c *ActionClient) IsDeployed() bool {
	if c.last == nil || c.last.Info.Status != helmrelease.StatusFailed {
		return true
	}
	deployed, err := c.revisions.IsDeployed(c.ctx)
	return deployed || err != nil
}

// endInterrupted marks a revision as failed that an operation left unfinished, and returns the status that
// it was left in; empty for another one. The error is ErrBusy while another Helm client may be working on it.
func (c *ActionClient) endInterrupted(revision *helmrelease.Release) (left helmrelease.Status, err error) {
	status := revision.Info.Status
	if !status.IsPending() && status != helmrelease.StatusUninstalling {
		return "", nil
	}
	if revision.Info.Description != descriptionPending && inProgress(revision, c.revisions.Seen(), c.Clock.Now()) {
		return "", fmt.Errorf("release %s: %w (%s, revision %d); the operator takes over after %s",
			c.key, ErrBusy, status, revision.Version, pendingTimeout)
	}
	revision.SetStatus(helmrelease.StatusFailed, "Interrupted: left "+status.String())
	return status, nil
}

// inProgress reports whether another Helm client may be working on a pending release, which
// this process first saw at some time. The other client's clock may be ahead of ours, so
// neither time alone counts.
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

// History returns the newest revision of the release and the deployed ones, the newest first. The
// Helm reconciler does not call it.
func (c *ActionClient) History(string, ...helmclient.HistoryOption) ([]*helmrelease.Release, error) {
	return c.revisions.Current(c.ctx)
}
