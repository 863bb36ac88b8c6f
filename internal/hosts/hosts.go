// Package hosts decides which Darkroom holds a host: the first one that creates the host's Lease. The holder keeps the
// host until the spec no longer contains it or the Darkroom is deleted, and none of its routes contains the host.
//
// A Darkroom claims its hosts (claim.go) and gives up those that it no longer needs (giveup.go). Lost Leases are
// recreated (restore.go). Concurrent writers are resolved by the API server: only one of them can create the Lease, and
// updates are conditional on the resource version.
package hosts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	coordinationv1 "k8s.io/api/coordination/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/gateway"
)

// indexHolder indexes Leases by the holder, indexHost Darkrooms by the hosts in their spec, and indexDomain Darkrooms by
// the domains in their status.
const (
	indexHolder = "holder"
	indexHost   = "host"
	indexDomain = "domain"
)

// Claims reads and writes the Leases of hosts.
type Claims struct {
	// Client reads Leases and Darkrooms from the caches, and writes Leases.
	Client client.Client
	// Uncached reads from the API server.
	Uncached client.Reader
	// Namespace is the namespace of the Leases, which installations may share.
	Namespace string
	// Installation is the name of this installation.
	Installation string
	// Watched are the namespaces whose Darkrooms are cached; empty means all. Leases may name Darkrooms in other
	// namespaces, which other operators handle.
	Watched []string
	// HostsOf returns the hosts in the spec of a Darkroom.
	HostsOf func(*v1alpha1.Darkroom) []string
	// Handles reports whether this installation handles a Darkroom or is about to claim it.
	Handles func(*v1alpha1.Darkroom) bool
	// Routes reports whether the cluster serves HTTPRoutes.
	Routes func() bool

	// lost contains the last holder of each host whose Lease was deleted, until Restore has handled it.
	lost sync.Map
}

// Index adds the indexes to the caches. It must be called before the caches start.
func (c *Claims) Index(ctx context.Context, in client.FieldIndexer) error {
	err := errors.Join(
		in.IndexField(ctx, &v1alpha1.Darkroom{}, indexHost, c.wanted),
		in.IndexField(ctx, &v1alpha1.Darkroom{}, indexDomain, domains),
		in.IndexField(ctx, &coordinationv1.Lease{}, indexHolder, holder),
	)
	if err != nil {
		return fmt.Errorf("index hosts: %w", err)
	}
	return nil
}

// domains returns the hosts at which a Darkroom serves images according to its status.
func domains(object client.Object) []string {
	darkroom, _ := object.(*v1alpha1.Darkroom)
	return darkroom.Status.Domains
}

// holder returns the holder of a Lease as the key of the index.
func holder(object client.Object) []string {
	lease, _ := object.(*coordinationv1.Lease)
	return []string{HolderOf(lease).String()}
}

// wanted returns the hosts in the spec of a Darkroom, sorted; none if it is being deleted or handled by another
// installation.
func (c *Claims) wanted(object client.Object) []string {
	darkroom, _ := object.(*v1alpha1.Darkroom)
	if darkroom.DeletionTimestamp != nil || !c.Handles(darkroom) {
		return nil
	}
	hosts := slices.Clone(c.HostsOf(darkroom))
	slices.Sort(hosts)
	return slices.Compact(hosts)
}

// Wanting returns the cached Darkrooms that want a host.
func (c *Claims) Wanting(ctx context.Context, host string) ([]types.NamespacedName, error) {
	found := &v1alpha1.DarkroomList{}
	err := c.Client.List(ctx, found, client.MatchingFields{indexHost: host}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return nil, fmt.Errorf("list the Darkrooms that want host %s: %w", host, err)
	}
	keys := make([]types.NamespacedName, len(found.Items))
	for i := range found.Items {
		keys[i] = client.ObjectKeyFromObject(&found.Items[i])
	}
	return keys, nil
}

// Watches reports whether the Darkrooms of a namespace are cached.
func (c *Claims) Watches(namespace string) bool {
	return len(c.Watched) == 0 || slices.Contains(c.Watched, namespace)
}

// state is the state of a host's holder in the cluster.
type state struct {
	exists bool
	// isHidden is set if this operator may not read the Darkroom.
	isHidden bool
	// installation is the installation that last reported the status of the Darkroom.
	installation string
	// isHandled is set if this installation handles the Darkroom. Other installations may append a different base
	// domain to its sub-domains.
	isHandled bool
	// wants is set if the spec contains the host, and isRouted if an Ingress or HTTPRoute does.
	wants, isRouted bool
}

// stateOf returns the state of the holder of a host; the zero value if the Lease does not name a Darkroom. The caches
// suffice to show that a Darkroom wants the host; everything else is read from the API server. A Darkroom that the
// operator may not read counts as wanting the host.
func (c *Claims) stateOf(ctx context.Context, key types.NamespacedName, host string) (s state, err error) {
	if key.Name == "" {
		return state{}, nil
	}
	readers := []client.Reader{c.Client, c.Uncached}
	if !c.Watches(key.Namespace) {
		readers = readers[1:]
	}
	for _, reader := range readers {
		darkroom := &v1alpha1.Darkroom{}
		switch err := reader.Get(ctx, key, darkroom); {
		case apierrors.IsForbidden(err):
			return state{exists: true, isHidden: true, wants: true}, nil
		case client.IgnoreNotFound(err) != nil:
			return state{}, fmt.Errorf("get Darkroom %s, which holds the host: %w", key, err)
		case err == nil && slices.Contains(c.wanted(darkroom), host):
			return state{exists: true, installation: darkroom.Status.Installation, isHandled: true, wants: true}, nil
		default: // the uncached reader comes last and decides
			s.exists, s.installation = err == nil, darkroom.Status.Installation
			s.isHandled = s.exists && c.Handles(darkroom)
		}
	}
	routed, err := c.routed(ctx, key)
	s.isRouted = slices.Contains(routed, host)
	return s, err
}

// routed returns the hosts of the Ingress and the HTTPRoute with the name of a Darkroom, regardless of their labels and
// owners. It reads them from the API server.
func (c *Claims) routed(ctx context.Context, key types.NamespacedName) ([]string, error) {
	routes := []client.Object{&networkingv1.Ingress{}}
	if c.Routes() {
		routes = append(routes, &gatewayv1.HTTPRoute{})
	}
	var hosts []string
	for _, route := range routes {
		if err := c.Uncached.Get(ctx, key, route); client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("get the routes of Darkroom %s: %w", key, err)
		}
		hosts = append(hosts, gateway.Hosts(route)...)
	}
	return hosts, nil
}
