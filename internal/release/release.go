package release

import (
	"context"
	"errors"
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

// Reasons of events on a Darkroom.
const (
	// EventInstalled: the first revision was installed.
	EventInstalled = "Installed"
	// EventUpgraded: a new revision was applied.
	EventUpgraded = "Upgraded"
	// EventRepaired: deleted or changed objects were restored.
	EventRepaired = "Repaired"
	// EventContested: another writer changes an object repeatedly.
	EventContested = "Contested"
	// EventRecovered: an interrupted operation is retried.
	EventRecovered = "Recovered"
	// EventStrayObjects: another Helm client left objects without an owner.
	EventStrayObjects = "StrayObjects"
	// EventUninstalled: the release and its objects were deleted.
	EventUninstalled = "Uninstalled"
	// EventOrphaned: the Darkroom was deleted without its objects.
	EventOrphaned = "Orphaned"
	// EventFailed: an install, upgrade, repair or uninstall failed.
	EventFailed = "ReleaseFailed"
)

// pendingTimeout is how long a release that another Helm client left pending counts as in progress.
const pendingTimeout = 2 * time.Minute

// descriptionPending marks revisions that this operator is working on. There is only one leader, and it never runs two
// reconciles of a Darkroom at the same time. So a pending revision with this mark was left by an operator that died.
const descriptionPending = "In progress (Darkroom Operator)"

// ErrBusy is returned while another Helm client is changing the release.
var ErrBusy = errors.New("another Helm client is changing the release")

// Recorder records events on Darkrooms.
type Recorder interface {
	// Event records an event; warning is set for failures.
	Event(darkroom *v1alpha1.Darkroom, warning bool, reason, message string)
}

// Config is the configuration of Releases. All fields except Full and MaxHistory are required.
type Config struct {
	// Chart is the chart with its default values. The chart that the Helm reconciler passes has none and is not
	// rendered.
	Chart *render.Chart
	// Client writes objects.
	Client client.Client
	// Uncached reads from the API server.
	Uncached client.Reader
	// Cached returns an object from a cache. It returns nil and no error for a kind that is not cached, and a NotFound
	// error for a missing object. The object is shared with the cache and must not be modified.
	Cached func(context.Context, schema.GroupKind, types.NamespacedName) (metav1.Object, error)
	// Owned visits all cached objects that have a Darkroom's key in the index ownership.Index, which may include objects
	// of other Darkrooms. The objects are shared with the cache and must not be modified.
	Owned func(_ context.Context, darkroom client.Object, visit func(schema.GroupVersionKind, metav1.Object)) error
	// Kinds returns the kinds that a release may contain in this cluster.
	Kinds func() []schema.GroupVersionKind
	// Full reports whether the limit of concurrent rollouts caused by the operator is reached, not counting the given
	// Darkroom. nil means no limit.
	Full func(_ context.Context, darkroom types.NamespacedName) (bool, error)
	// Store stores the releases.
	Store *storage.Store
	// Renderer renders the releases.
	Renderer *render.Renderer
	// Recorder records events, and Metrics records operations.
	Recorder Recorder
	Metrics  *metrics.Metrics
	// Clock provides the current time.
	Clock clock.PassiveClock
	// MaxHistory is the number of revisions kept per release; 0 keeps all.
	MaxHistory int
}

// Releases manages the Helm releases of all Darkrooms. It creates an action client for each reconcile, and remembers
// the releases between reconciles.
type Releases struct {
	Config

	mu    sync.Mutex
	known map[types.NamespacedName]*memory
}

// memory is the state remembered for the release of one Darkroom. Without it, each reconcile would read the revision,
// render the chart and apply every object.
type memory struct {
	uid types.UID
	// revisions and lastRendering are used only by the reconcile of the Darkroom, and reconciles of one Darkroom never
	// overlap.
	revisions     storage.Memory
	lastRendering digests
	// objects is also used by the status controller, concurrently.
	objects drift.Memory
}

// New creates Releases from a configuration.
func New(config Config) *Releases {
	return &Releases{Config: config, known: map[types.NamespacedName]*memory{}}
}

// of returns the memory of a Darkroom's release, and creates it if needed. The memory of an earlier Darkroom of the
// same name is dropped.
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

// recall returns the memory of a Darkroom's release; it is empty if there is none.
func (r *Releases) recall(key types.NamespacedName) *memory {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, found := r.known[key]; found {
		return known
	}
	return &memory{}
}

// Forget drops the memory of a Darkroom's release.
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

// Holds returns the objects of a Darkroom whose repair is delayed.
func (r *Releases) Holds(key types.NamespacedName) []drift.Hold {
	return r.recall(key).objects.Holds(r.Clock.Now())
}

// Shown reports whether a cached object of a Darkroom is at least as recent as the operator's last apply. It is true if
// this process has not applied the object.
func (r *Releases) Shown(key types.NamespacedName, object manifest.Key, live metav1.Object) bool {
	trace, applied := r.recall(key).objects.Trace(object)
	return !applied || trace.IsShown(live)
}

// Digest returns the digest of the objects of a release that were applied in their desired state.
func (r *Releases) Digest(darkroom client.Object) string { return r.of(darkroom).objects.Digest() }

// AppliedDeployment identifies the Deployment that this process last applied for a Darkroom; nil if it has not applied
// one.
func (r *Releases) AppliedDeployment(darkroom client.Object) *v1alpha1.AppliedDeployment {
	trace, found := r.of(darkroom).objects.Trace(DeploymentOf(client.ObjectKeyFromObject(darkroom)))
	if !found || trace.Generation == 0 {
		return nil
	}
	return &v1alpha1.AppliedDeployment{UID: trace.UID, Generation: trace.Generation}
}

// ActionClient acts for one Darkroom during one reconcile. It installs, upgrades and repairs the release that Render
// has rendered; without Render, the release can only be read and uninstalled. The interface that it implements has no
// contexts, so it stores the context of the reconcile.
type ActionClient struct {
	*Releases
	// Inputs identifies the inputs of the release that users control in addition to the spec.
	Inputs string
	// Postponed is set if the Deployment was not applied because its rollout has to wait.
	Postponed bool

	ctx       context.Context
	darkroom  *v1alpha1.Darkroom
	key       types.NamespacedName
	memory    *memory
	revisions *storage.Revisions
	// rendering is nil before Render.
	rendering *rendering
	// mayRoll is set if the operator may start a rollout of the Deployment now.
	mayRoll bool
	// last is the revision that Get has returned; nil before the first call.
	last *helmrelease.Release
}

var _ helmclient.ActionInterface = (*ActionClient)(nil)

// Config implements helmclient.ActionInterface. Helm's configuration is not used.
func (c *ActionClient) Config() *action.Configuration {
	return &action.Configuration{}
}

// Get returns the last revision of the release, or driver.ErrReleaseNotFound. The error is storage.ErrForeignRelease if
// the release does not belong to the Darkroom. A revision that an operator left pending, or that was uninstalled with
// its history kept, is returned as failed, so that the reconciler creates a new one. The reconciler calls Get three
// times, so the result is kept.
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

// IsDeployed reports whether the release that Get found has a deployed revision. It is true if that is unknown.
func (c *ActionClient) IsDeployed() bool {
	if c.last == nil || c.last.Info.Status != helmrelease.StatusFailed {
		return true
	}
	deployed, err := c.revisions.IsDeployed(c.ctx)
	return deployed || err != nil
}

// History returns the newest revision of the release and the deployed ones, newest first. The Helm reconciler does not
// call it.
func (c *ActionClient) History(string, ...helmclient.HistoryOption) ([]*helmrelease.Release, error) {
	return c.revisions.Current(c.ctx)
}
