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
	// discoveryPeriod is the interval at which the operator checks whether the API server now serves a missing optional
	// kind. Each check is one small request.
	discoveryPeriod = 20 * time.Second
	// discoveryRetry and discoveryTimeout are the interval and the time limit of discovery at startup.
	discoveryRetry, discoveryTimeout = 2 * time.Second, time.Minute
)

// optionalKinds are the kinds of managed objects that a cluster may not serve.
var optionalKinds = []caches.Kind{
	{GroupVersionKind: httpRoute, Typed: &gatewayv1.HTTPRoute{}, TypedList: &gatewayv1.HTTPRouteList{}},
	{GroupVersionKind: schema.GroupVersionKind{Group: "monitoring.coreos.com", Version: "v1", Kind: "ServiceMonitor"}},
}

var httpRoute = schema.GroupVersion(gatewayv1.GroupVersion).WithKind("HTTPRoute")

// resourceOf returns the resource of an optional kind. Their plural names are regular.
func resourceOf(kind schema.GroupVersionKind) schema.GroupVersionResource {
	resource, _ := meta.UnsafeGuessKindToResource(kind)
	return resource
}

// chartResources are the other resources that the chart looks up in .Capabilities.APIVersions, by API version.
var chartResources = []schema.GroupVersionResource{
	{Group: "route.openshift.io", Version: "v1", Resource: "routes"},
	{Group: "security.openshift.io", Version: "v1", Resource: "securitycontextconstraints"},
}

// Cluster is what the operator needs to know about a cluster's API. It is discovered once at startup; only optional
// kinds are added later.
type Cluster struct {
	version *version.Info
	// served maps each of chartResources to whether the cluster serves it.
	served map[schema.GroupVersionResource]bool

	mu sync.RWMutex
	// managed are the kinds of managed objects that the cluster serves. The slice is replaced, never modified.
	managed []caches.Kind
}

// Discovery is the part of a discovery client that Discover needs.
type Discovery interface {
	ServerVersion() (*version.Info, error)
	ServerResourcesForGroupVersionWithContext(ctx context.Context, groupVersion string) (*metav1.APIResourceList, error)
}

// Discover discovers what a cluster serves. An incomplete response, for example while an aggregated API is down, is not
// used: Discover retries for a minute and then fails.
func Discover(ctx context.Context, api Discovery) (*Cluster, error) {
	var cluster *Cluster
	var cause error
	err := wait.PollUntilContextTimeout(ctx, discoveryRetry, discoveryTimeout, true,
		func(ctx context.Context) (bool, error) {
			if cluster, cause = discover(ctx, api); cause != nil {
				ctrl.LoggerFrom(ctx).Info("Failed to discover the cluster's API; retrying", "cause", cause.Error())
			}
			return cause == nil, nil
		})
	if err != nil {
		return nil, errors.Join(err, cause)
	}
	return cluster, nil
}

func discover(ctx context.Context, api Discovery) (*Cluster, error) {
	cluster := &Cluster{served: map[schema.GroupVersionResource]bool{}, managed: caches.Everywhere()}
	var err error
	if cluster.version, err = api.ServerVersion(); err != nil {
		return nil, fmt.Errorf("get the version of the cluster: %w", err)
	}
	for _, resource := range chartResources {
		if cluster.served[resource], err = isServed(ctx, api, resource); err != nil {
			return nil, err
		}
	}
	for _, kind := range optionalKinds {
		switch found, err := isServed(ctx, api, resourceOf(kind.GroupVersionKind)); {
		case err != nil:
			return nil, err
		case found:
			cluster.add(kind)
		}
	}
	return cluster, nil
}

// isServed reports whether a cluster serves a resource.
func isServed(ctx context.Context, api Discovery, resource schema.GroupVersionResource) (bool, error) {
	list, err := api.ServerResourcesForGroupVersionWithContext(ctx, resource.GroupVersion().String())
	switch {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("discover %s: %w", resource.GroupVersion(), err)
	}
	return slices.ContainsFunc(list.APIResources,
		func(r metav1.APIResource) bool { return r.Name == resource.Resource }), nil
}

// add adds a kind that the cluster serves.
func (c *Cluster) add(kind caches.Kind) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.managed = append(slices.Clip(c.managed), kind)
}

// kinds returns the kinds of managed objects that the cluster serves.
func (c *Cluster) kinds() []caches.Kind {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.managed
}

// serves reports whether the cluster serves a kind of managed objects.
func (c *Cluster) serves(kind schema.GroupVersionKind) bool {
	return slices.ContainsFunc(c.kinds(), func(k caches.Kind) bool { return k.GroupVersionKind == kind })
}

// Managed returns the kinds of managed objects that the cluster serves.
func (c *Cluster) Managed() []schema.GroupVersionKind {
	var names []schema.GroupVersionKind
	for _, kind := range c.kinds() {
		names = append(names, kind.GroupVersionKind)
	}
	return names
}

// CacheOptions returns the options for a manager's cache; see caches.Options. They include kinds that the cluster does
// not serve yet.
func CacheOptions(namespaces []string, darkrooms labels.Selector, leaseNamespace string) (cache.Options, error) {
	return caches.Options(slices.Concat(caches.Everywhere(), optionalKinds), namespaces, darkrooms, leaseNamespace)
}

// Capabilities returns the capabilities for rendering the chart.
func (c *Cluster) Capabilities() render.Capabilities {
	capabilities := render.Capabilities{Version: c.version.GitVersion}
	for _, resource := range chartResources {
		if c.served[resource] {
			capabilities.APIVersions = append(capabilities.APIVersions, resource.GroupVersion().String())
		}
	}
	return capabilities
}
