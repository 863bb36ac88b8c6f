package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// discoveryPeriod is the interval at which the cluster is asked which optional kinds it
// serves, with one small request for each kind.
const discoveryPeriod = time.Minute

// optional is a kind that a cluster may lack. Its CustomResourceDefinition may be installed
// and removed while the operator runs.
type optional struct {
	watched

	// resource is the name of the kind in URLs.
	resource string
	// neededBy reports whether a Darkroom has an object of this kind.
	neededBy func(*v1alpha1.Darkroom) bool
}

// Kinds that a cluster may lack.
var (
	httpRoute      = schema.GroupVersion(gatewayv1.GroupVersion).WithKind("HTTPRoute")
	serviceMonitor = schema.GroupVersionKind{Group: "monitoring.coreos.com", Version: "v1", Kind: "ServiceMonitor"}
)

var optionalKinds = []optional{
	{
		watched:  watched{kind: httpRoute, typed: &gatewayv1.HTTPRoute{}},
		resource: "httproutes",
		neededBy: func(d *v1alpha1.Darkroom) bool { return d.Spec.Gateway != nil },
	},
	{
		watched:  watched{kind: serviceMonitor},
		resource: "servicemonitors",
		neededBy: func(d *v1alpha1.Darkroom) bool { return d.Spec.Metrics != nil && d.Spec.Metrics.ServiceMonitor },
	},
}

// isOptional reports whether a cluster may lack a kind.
func isOptional(kind schema.GroupVersionKind) bool {
	return slices.ContainsFunc(optionalKinds, func(o optional) bool { return o.kind == kind })
}

// groupDiscovery lists what a cluster serves of one version of an API group.
type groupDiscovery interface {
	ServerResourcesForGroupVersionWithContext(ctx context.Context, groupVersion string) (*metav1.APIResourceList, error)
}

// kinds follows the optional kinds: it caches and watches those that the cluster serves. An
// informer of a kind that is not served would never synchronize and would block reads.
// Standby managers follow the kinds too.
type kinds struct {
	cache     cache.Cache
	darkrooms client.Reader
	discovery groupDiscovery
	// index adds the indexes of a kind to the cache.
	index  func(context.Context, *optional) error
	period time.Duration

	// synced is closed when the kinds that were served at the start are cached.
	synced chan struct{}

	mu       sync.RWMutex
	followed map[schema.GroupVersionKind]*following
	feeds    []*feed
}

// following is an optional kind that is served.
type following struct {
	ctx    context.Context
	cancel context.CancelFunc
	// ended is closed when nothing more is started for the kind.
	ended chan struct{}
	// cached is set when the objects of the kind can be read from the cache.
	cached bool
}

func newKinds(caches cache.Cache, darkrooms client.Reader, discovery groupDiscovery, period time.Duration) *kinds {
	if period <= 0 {
		period = discoveryPeriod
	}
	return &kinds{
		cache: caches, darkrooms: darkrooms, discovery: discovery, period: period,
		index:    func(context.Context, *optional) error { return nil },
		synced:   make(chan struct{}),
		followed: map[schema.GroupVersionKind]*following{},
	}
}

// has reports whether objects of an optional kind can be read from the cache.
func (k *kinds) has(kind schema.GroupVersionKind) bool {
	k.mu.RLock()
	defer k.mu.RUnlock()
	state := k.followed[kind]
	return state != nil && state.cached
}

// cached returns the kinds whose objects can be read from the cache.
func (k *kinds) cached() []watched {
	cached := watchedKinds()
	for i := range optionalKinds {
		if k.has(optionalKinds[i].kind) {
			cached = append(cached, optionalKinds[i].watched)
		}
	}
	return cached
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (k *kinds) NeedLeaderElection() bool { return false }

// Start follows the kinds until the context ends.
func (k *kinds) Start(ctx context.Context) error {
	log := ctrl.LoggerFrom(ctx).WithName("kinds")
	ctx = ctrl.LoggerInto(ctx, log)
	if err := k.look(ctx); err != nil {
		return err
	}
	go k.awaitSync(ctx)
	ticker := time.NewTicker(k.period)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
			if err := k.look(ctx); err != nil {
				log.Error(err, "Optional kinds not discovered; keeping those known")
			}
		}
	}
}

// awaitSync closes synced when all kinds that are followed at the start are cached or gone.
func (k *kinds) awaitSync(ctx context.Context) {
	k.mu.RLock()
	states := make([]*following, 0, len(k.followed))
	for _, state := range k.followed {
		states = append(states, state)
	}
	k.mu.RUnlock()
	for _, state := range states {
		select {
		case <-state.ended:
		case <-ctx.Done():
			return
		}
	}
	close(k.synced)
}

// look asks the cluster which of the kinds it serves, and starts or stops to follow them.
func (k *kinds) look(ctx context.Context) error {
	var errs []error
	for i := range optionalKinds {
		kind := &optionalKinds[i]
		k.mu.RLock()
		state := k.followed[kind.kind]
		k.mu.RUnlock()
		served, err := k.isServed(ctx, kind)
		switch {
		case err != nil:
		case served && state == nil:
			err = k.begin(ctx, kind)
		case !served:
			err = k.end(ctx, kind, state)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (k *kinds) isServed(ctx context.Context, kind *optional) (bool, error) {
	list, err := k.discovery.ServerResourcesForGroupVersionWithContext(ctx, kind.kind.GroupVersion().String())
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("ask the cluster for %s: %w", kind.kind.GroupVersion(), err)
	}
	return slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == kind.resource }), nil
}

// begin caches a kind. Once it is cached, the controllers watch it, and the Darkrooms that
// need it are enqueued.
func (k *kinds) begin(ctx context.Context, kind *optional) error {
	// An informer of an earlier attempt may have the indexes already. They cannot be added
	// twice.
	if err := k.cache.RemoveInformer(ctx, kind.object()); err != nil {
		return fmt.Errorf("cache %s: %w", kind.kind, err)
	}
	informer, err := k.cache.GetInformer(ctx, kind.object(), cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("cache %s: %w", kind.kind, err)
	}
	if err := k.index(ctx, kind); err != nil {
		return err
	}
	state := &following{ended: make(chan struct{})}
	state.ctx, state.cancel = context.WithCancel(ctx)
	k.mu.Lock()
	k.followed[kind.kind] = state
	k.mu.Unlock()
	go func() {
		defer close(state.ended)
		if !toolscache.WaitForCacheSync(state.ctx.Done(), informer.HasSynced) {
			return
		}
		ctrl.LoggerFrom(ctx).Info("Watching optional kind", "kind", kind.kind.String())
		k.mu.Lock()
		state.cached = true
		for _, feed := range k.feeds {
			feed.watch(state.ctx, kind) //nolint:contextcheck // it ends with the kind
		}
		k.mu.Unlock()
		k.wake(ctx, kind.neededBy)
	}()
	return nil
}

// end removes the cache of a kind that is no longer served. All Darkrooms are enqueued,
// because objects of the kind may have held hosts that others claim.
func (k *kinds) end(ctx context.Context, kind *optional, state *following) error {
	if state != nil {
		ctrl.LoggerFrom(ctx).Info("Optional kind no longer served by the cluster", "kind", kind.kind.String())
		k.mu.Lock()
		delete(k.followed, kind.kind)
		k.mu.Unlock()
		state.cancel()
		<-state.ended
	}
	// Also if it is not followed: an event source that started while the kind was removed
	// may have created an informer.
	if err := k.cache.RemoveInformer(ctx, kind.object()); err != nil {
		return fmt.Errorf("stop caching %s: %w", kind.kind, err)
	}
	if state != nil {
		k.wake(ctx, func(*v1alpha1.Darkroom) bool { return true })
	}
	return nil
}

// wake enqueues some Darkrooms in the running controllers.
func (k *kinds) wake(ctx context.Context, which func(*v1alpha1.Darkroom) bool) {
	list := &v1alpha1.DarkroomList{}
	if err := k.darkrooms.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "Darkrooms not listed")
		return
	}
	var keys []types.NamespacedName
	for i := range list.Items {
		if which(&list.Items[i]) {
			keys = append(keys, keyOf(&list.Items[i]))
		}
	}
	k.mu.RLock()
	defer k.mu.RUnlock()
	for _, feed := range k.feeds {
		for _, request := range requestsFor(keys) {
			feed.queue.Add(request)
		}
	}
}

// feed is the source of a controller's requests that come from optional kinds.
type feed struct {
	kinds *kinds
	// sources are the event sources of a kind; none if the controller does not read it.
	sources func(*optional) []source.Source
	queue   workqueue.TypedRateLimitingInterface[reconcile.Request]
}

// feed returns the source for a controller.
func (k *kinds) feed(sources func(*optional) []source.Source) source.Source {
	return &feed{kinds: k, sources: sources}
}

// Start implements source.Source.
func (f *feed) Start(_ context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	f.kinds.mu.Lock()
	defer f.kinds.mu.Unlock()
	f.queue = queue
	f.kinds.feeds = append(f.kinds.feeds, f)
	for i := range optionalKinds {
		if state := f.kinds.followed[optionalKinds[i].kind]; state != nil && state.cached {
			f.watch(state.ctx, &optionalKinds[i]) //nolint:contextcheck // it ends with the kind
		}
	}
	return nil
}

// WaitForSync implements source.SyncingSource: a controller starts once the served kinds
// are cached, because objects that are not cached count as missing.
func (f *feed) WaitForSync(ctx context.Context) error {
	select {
	case <-f.kinds.synced:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the caches of optional kinds: %w", ctx.Err())
	}
}

// watch starts the event sources of a kind, for as long as it is served.
func (f *feed) watch(ctx context.Context, kind *optional) {
	for _, events := range f.sources(kind) {
		if err := events.Start(ctx, f.queue); err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "Optional kind not watched", "kind", kind.kind.String())
		}
	}
}

// applier is a client whose Apply returns a NoKindMatchError for a kind that is no longer
// served, as for one that never was. Without it the error is NotFound, because clients
// cache the resource of a kind.
type applier struct{ client.Client }

// Apply implements client.Writer.
func (a applier) Apply(ctx context.Context, object runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	err := a.Client.Apply(ctx, object, opts...)
	typed, ok := object.(interface {
		GroupVersionKind() schema.GroupVersionKind
	})
	if ok && apierrors.IsNotFound(err) && apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse) {
		kind := typed.GroupVersionKind()
		return &meta.NoKindMatchError{GroupKind: kind.GroupKind(), SearchedVersions: []string{kind.Version}}
	}
	return err
}

// scopes is a mapper for caches. A new cache asks for the scope of each configured kind,
// possibly before the cluster serves it.
type scopes struct {
	meta.RESTMapper

	optional map[schema.GroupVersionKind]*meta.RESTMapping
}

func newScopes(mapper meta.RESTMapper) scopes {
	known := map[schema.GroupVersionKind]*meta.RESTMapping{}
	for _, o := range optionalKinds {
		// Caches that are limited to namespaces ask for the kind of the list.
		for _, kind := range []schema.GroupVersionKind{o.kind, o.kind.GroupVersion().WithKind(o.kind.Kind + "List")} {
			known[kind] = &meta.RESTMapping{
				Resource: kind.GroupVersion().WithResource(o.resource), GroupVersionKind: kind, Scope: meta.RESTScopeNamespace,
			}
		}
	}
	return scopes{RESTMapper: mapper, optional: known}
}

// RESTMapping implements meta.RESTMapper.
func (s scopes) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	if len(versions) == 1 {
		if known, found := s.optional[kind.WithVersion(versions[0])]; found {
			return known, nil
		}
	}
	return s.RESTMapper.RESTMapping(kind, versions...)
}
