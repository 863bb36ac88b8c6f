package controller

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/version"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/internal/caches"
	"github.com/darkroom-operator/darkroom-operator/internal/release/render"
)

const (
	// discoveryPeriod is the interval at which the API server is asked which of the optional
	// resources it serves, with one small request for each.
	discoveryPeriod = 20 * time.Second
	// discoveryRetry and discoveryTimeout limit the attempts at the start.
	discoveryRetry, discoveryTimeout = 2 * time.Second, time.Minute
	// settledAfter is the number of consecutive answers after which a change counts. A kind whose
	// CustomResourceDefinition is replaced is gone for seconds.
	settledAfter = 3
)

// ErrClusterChanged ends a manager whose cluster has gained or lost an optional resource, or has another minor
// version. The next process starts with what the cluster serves then.
var ErrClusterChanged = errors.New("the API of the cluster has changed")

// optionalKinds are the kinds of managed objects that a cluster may lack.
var optionalKinds = []caches.Kind{
	{GroupVersionKind: httpRoute, Typed: &gatewayv1.HTTPRoute{}, TypedList: &gatewayv1.HTTPRouteList{}},
	{GroupVersionKind: schema.GroupVersionKind{Group: "monitoring.coreos.com", Version: "v1", Kind: "ServiceMonitor"}},
}

var httpRoute = schema.GroupVersion(gatewayv1.GroupVersion).WithKind("HTTPRoute")

// resourceOf returns the resource of an optional kind, whose name is regular.
func resourceOf(kind schema.GroupVersionKind) schema.GroupVersionResource {
	resource, _ := meta.UnsafeGuessKindToResource(kind)
	return resource
}

// chartResources are the other resources that the chart asks for, by their API versions
// (.Capabilities.APIVersions).
var chartResources = []schema.GroupVersionResource{
	{Group: "route.openshift.io", Version: "v1", Resource: "routes"},
	{Group: "security.openshift.io", Version: "v1", Resource: "securitycontextconstraints"},
}

// Cluster is the part of a cluster's API that clusters differ in. It does not change while a
// process runs.
type Cluster struct {
	version *version.Info
	// served has an entry for each optional resource.
	served map[schema.GroupVersionResource]bool
}

// Discovery is the part of a discovery client that Discover needs.
type Discovery interface {
	ServerVersion() (*version.Info, error)
	ServerResourcesForGroupVersionWithContext(ctx context.Context, groupVersion string) (*metav1.APIResourceList, error)
}

// Discover returns what a cluster serves. An answer that is incomplete, such as one without an
// aggregated API that is down, is not used: it tries again for a minute, and fails then.
func Discover(ctx context.Context, api Discovery) (*Cluster, error) {
	var cluster *Cluster
	var cause error
	err := wait.PollUntilContextTimeout(ctx, discoveryRetry, discoveryTimeout, true,
		func(ctx context.Context) (bool, error) {
			if cluster, cause = discover(ctx, api); cause != nil {
				ctrl.LoggerFrom(ctx).Info("Failed to discover the API of the cluster; retrying", "cause", cause.Error())
			}
			return cause == nil, nil
		})
	if err != nil {
		return nil, errors.Join(err, cause)
	}
	return cluster, nil
}

func discover(ctx context.Context, api Discovery) (*Cluster, error) {
	cluster := &Cluster{served: map[schema.GroupVersionResource]bool{}}
	var err error
	if cluster.version, err = api.ServerVersion(); err != nil {
		return nil, fmt.Errorf("discover the version of the cluster: %w", err)
	}
	resources := slices.Clone(chartResources)
	for _, kind := range optionalKinds {
		resources = append(resources, resourceOf(kind.GroupVersionKind))
	}
	for _, resource := range resources {
		list, err := api.ServerResourcesForGroupVersionWithContext(ctx, resource.GroupVersion().String())
		switch {
		case apierrors.IsNotFound(err):
			cluster.served[resource] = false
		case err != nil:
			return nil, fmt.Errorf("discover %s: %w", resource.GroupVersion(), err)
		default:
			cluster.served[resource] = slices.ContainsFunc(list.APIResources,
				func(r metav1.APIResource) bool { return r.Name == resource.Resource })
		}
	}
	return cluster, nil
}

// kinds returns the kinds of managed objects that the cluster serves.
func (c *Cluster) kinds() []caches.Kind {
	kinds := caches.Everywhere()
	for _, kind := range optionalKinds {
		if c.served[resourceOf(kind.GroupVersionKind)] {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// Managed returns the names of the kinds of managed objects that the cluster serves.
func (c *Cluster) Managed() []schema.GroupVersionKind {
	var names []schema.GroupVersionKind
	for _, kind := range c.kinds() {
		names = append(names, kind.GroupVersionKind)
	}
	return names
}

// equals reports whether the chart finds the same in another state of a cluster. Its patch version
// does not count.
func (c *Cluster) equals(other *Cluster) bool {
	return maps.Equal(c.served, other.served) && c.version.Major == other.version.Major &&
		c.version.Minor == other.version.Minor
}

// CacheOptions are those of a manager: see caches.Options.
func CacheOptions(
	cluster *Cluster, namespaces []string, darkrooms labels.Selector, leaseNamespace string,
) (cache.Options, error) {
	return caches.Options(cluster.kinds(), namespaces, darkrooms, leaseNamespace)
}

// Capabilities are those that the chart is rendered with.
func (c *Cluster) Capabilities() render.Capabilities {
	capabilities := render.Capabilities{Version: c.version.GitVersion}
	for _, resource := range chartResources {
		if c.served[resource] {
			capabilities.APIVersions = append(capabilities.APIVersions, resource.GroupVersion().String())
		}
	}
	return capabilities
}

// recurring is a check that ends the manager by an error. Managers that stand by run it too: their caches and kinds
// are those of the same cluster.
type recurring struct {
	period time.Duration
	check  func(context.Context) error
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (recurring) NeedLeaderElection() bool { return false }

// Start implements manager.Runnable.
func (r recurring) Start(ctx context.Context) error {
	err := wait.PollUntilContextCancel(ctx, r.period, false,
		func(ctx context.Context) (done bool, err error) { return false, r.check(ctx) })
	if ctx.Err() != nil {
		return nil //nolint:nilerr // the manager stops
	}
	return err
}

// streak is the number of consecutive answers by which something has changed; one that says otherwise sets it to 0.
type streak int

// lasts counts one more such answer, and reports whether they are enough.
func (s *streak) lasts() bool {
	*s++
	return *s >= settledAfter
}

// clusterWatch ends the manager when the cluster has changed for good.
type clusterWatch struct {
	known     *Cluster
	api       Discovery
	differing streak
}

// check asks once. An incomplete answer changes nothing.
func (w *clusterWatch) check(ctx context.Context) error {
	now, err := discover(ctx, w.api)
	switch {
	case err != nil:
		ctrl.LoggerFrom(ctx).Error(err, "Failed to discover the API of the cluster; it counts as unchanged")
		return nil
	case now.equals(w.known):
		w.differing = 0
		return nil
	}
	if !w.differing.lasts() {
		return nil
	}
	log := ctrl.LoggerFrom(ctx).WithValues("version", now.version.GitVersion)
	for resource, served := range now.served {
		if served != w.known.served[resource] {
			log = log.WithValues(resource.String(), served)
		}
	}
	log.Info("The cluster has changed: stopping, to start with what it serves now")
	return ErrClusterChanged
}
