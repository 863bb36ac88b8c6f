package hosts

import (
	"context"
	"errors"
	"fmt"
	"slices"

	coordinationv1 "k8s.io/api/coordination/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/gateway"
)

// indexHolder indexes Leases by the holder, and indexHost indexes Darkrooms by the hosts in their spec.
const (
	indexHolder = "holder"
	indexHost   = "host"
)

// attempts limits how often a claim is retried after losing to another writer.
const attempts = 3

// errForeignLease is returned if a host equals the name of an unrelated Lease, such as the leader election Lease.
var errForeignLease = errors.New("a Lease of this name belongs to another program: choose another sub-domain")

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
}

// Index adds the indexes to the caches. It must be called before the caches start.
func (c *Claims) Index(ctx context.Context, in client.FieldIndexer) error {
	err := in.IndexField(ctx, &v1alpha1.Darkroom{}, indexHost, c.wanted)
	if err == nil {
		err = in.IndexField(ctx, &coordinationv1.Lease{}, indexHolder, func(object client.Object) []string {
			lease, _ := object.(*coordinationv1.Lease)
			return []string{HolderOf(lease).String()}
		})
	}
	if err != nil {
		return fmt.Errorf("index hosts: %w", err)
	}
	return nil
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

// Claim claims each host that a Darkroom wants, and returns the hosts that other Darkrooms hold.
func (c *Claims) Claim(ctx context.Context, darkroom *v1alpha1.Darkroom) ([]Refusal, error) {
	var refusals []Refusal
	for _, host := range c.wanted(darkroom) {
		refusal, err := c.claim(ctx, darkroom, host)
		if err != nil {
			return nil, fmt.Errorf("claim host %s: %w", host, err)
		}
		if refusal != nil {
			refusals = append(refusals, *refusal)
		}
	}
	return refusals, nil
}

// claim claims one host. It returns nil if the Darkroom now holds the host.
func (c *Claims) claim(ctx context.Context, darkroom *v1alpha1.Darkroom, host string) (*Refusal, error) {
	reader := client.Reader(c.Client)
	var err error
	for range attempts {
		var lease *coordinationv1.Lease
		if lease, err = c.lease(ctx, reader, host); err != nil {
			return nil, err
		}
		switch decide(darkroom, lease, c.Installation) {
		case keep:
			return nil, nil //nolint:nilnil // the Darkroom holds the host
		case create:
			lease = &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: host}}
			assign(lease, darkroom, c.Installation)
			err = c.Client.Create(ctx, lease)
		case contend:
			if !isOfHost(lease) {
				return nil, fmt.Errorf("%w: %s/%s", errForeignLease, lease.Namespace, lease.Name)
			}
			refusal, err := c.contest(ctx, host, HolderOf(lease))
			if refusal != nil || err != nil {
				return refusal, err
			}
			fallthrough
		case renew:
			assign(lease, darkroom, c.Installation)
			err = c.Client.Update(ctx, lease)
		}
		if err == nil {
			return nil, nil //nolint:nilnil // as above
		}
		if !apierrors.IsAlreadyExists(err) && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
			return nil, err
		}
		reader = c.Uncached // another writer was faster
	}
	return nil, err
}

// contest returns the refusal of a host that another Darkroom holds; nil if the holder and its routes are gone. An
// existing holder must release the host itself, because its operator may be about to write a route for the host.
func (c *Claims) contest(ctx context.Context, host string, holder types.NamespacedName) (*Refusal, error) {
	s, err := c.stateOf(ctx, holder, host)
	if err != nil || !s.exists && !s.isRouted {
		return nil, err
	}
	return &Refusal{Host: host, Holder: holder, Leaving: !s.wants}, nil
}

// lease returns the Lease of a host; nil if it does not exist.
func (c *Claims) lease(ctx context.Context, reader client.Reader, host string) (*coordinationv1.Lease, error) {
	lease := &coordinationv1.Lease{}
	err := reader.Get(ctx, types.NamespacedName{Namespace: c.Namespace, Name: host}, lease)
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // nil means not found
	}
	return lease, err
}

// state is the state of a host's holder in the cluster.
type state struct {
	exists bool
	// isHandled is set if this installation handles the Darkroom. Other installations may append a different base
	// domain to its sub-domains.
	isHandled bool
	// wants is set if the spec contains the host, and isRouted if an Ingress or HTTPRoute does.
	wants, isRouted bool
}

// stateOf returns the state of the holder of a host; the zero value if the Lease does not name a Darkroom. The caches
// suffice to show that a Darkroom wants the host; everything else is read from the API server. If the operator may not
// read the Darkroom, the Darkroom counts as wanting the host.
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
			return state{exists: true, wants: true}, nil
		case client.IgnoreNotFound(err) != nil:
			return state{}, fmt.Errorf("get Darkroom %s, which holds the host: %w", key, err)
		case err == nil && slices.Contains(c.wanted(darkroom), host):
			return state{exists: true, isHandled: true, wants: true}, nil
		default: // the uncached reader comes last and decides
			s.exists = err == nil
			s.isHandled = s.exists && c.Handles(darkroom)
		}
	}
	routed, err := c.routed(ctx, key)
	s.isRouted = slices.Contains(routed, host)
	return s, err
}

// Watches reports whether the Darkrooms of a namespace are cached.
func (c *Claims) Watches(namespace string) bool {
	return len(c.Watched) == 0 || slices.Contains(c.Watched, namespace)
}

// routed returns the hosts of the Ingress and the HTTPRoute that have the name of a Darkroom, whatever their labels and
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

// GiveUp deletes the Leases of hosts that a Darkroom neither wants nor routes any more. It sends no request if the
// caches show that the Darkroom still wants all of its hosts. A host that another installation claimed is kept until
// the Darkroom is gone, unless this installation handles the Darkroom.
func (c *Claims) GiveUp(ctx context.Context, key types.NamespacedName) error {
	leases := &coordinationv1.LeaseList{}
	err := c.Client.List(ctx, leases, client.InNamespace(c.Namespace), client.MatchingFields{indexHolder: key.String()})
	if err != nil {
		return fmt.Errorf("list the hosts of Darkroom %s: %w", key, err)
	}
	for i := range leases.Items {
		lease := &leases.Items[i]
		s, err := c.stateOf(ctx, key, lease.Name)
		if err == nil && !s.wants && !s.isRouted && (!s.exists || s.isHandled || c.hasClaimed(lease)) {
			err = c.Client.Delete(ctx, lease,
				client.Preconditions{UID: &lease.UID, ResourceVersion: &lease.ResourceVersion})
		}
		// On a conflict, this Darkroom or another one has just claimed the host.
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return fmt.Errorf("give up host %s: %w", lease.Name, err)
		}
	}
	return nil
}

// hasClaimed reports whether this installation claimed a host. A Lease without the annotation counts as claimed by it.
func (c *Claims) hasClaimed(lease *coordinationv1.Lease) bool {
	by := lease.Annotations[v1alpha1.AnnotationInstallation]
	return by == "" || by == c.Installation
}

// Refusals returns the hosts that a Darkroom wants but others hold, according to the cached Leases. Unlike Claim, it does
// not check whether a holder still exists, and leaves Leaving unset.
func (c *Claims) Refusals(ctx context.Context, darkroom *v1alpha1.Darkroom) ([]Refusal, error) {
	var refusals []Refusal
	for _, host := range c.wanted(darkroom) {
		lease, err := c.lease(ctx, c.Client, host)
		if err != nil {
			return nil, fmt.Errorf("get the Lease of host %s: %w", host, err)
		}
		if decide(darkroom, lease, c.Installation) == contend {
			refusals = append(refusals, Refusal{Host: host, Holder: HolderOf(lease)})
		}
	}
	return refusals, nil
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

// Holders returns the holder of each host that has a Lease in a namespace.
func Holders(ctx context.Context, in client.Reader, namespace string) (map[string]types.NamespacedName, error) {
	leases := &coordinationv1.LeaseList{}
	err := in.List(ctx, leases, client.InNamespace(namespace), client.HasLabels{v1alpha1.LabelHost})
	if err != nil {
		return nil, fmt.Errorf("list the Leases of hosts in namespace %s: %w", namespace, err)
	}
	holders := map[string]types.NamespacedName{}
	for i := range leases.Items {
		holders[leases.Items[i].Name] = HolderOf(&leases.Items[i])
	}
	return holders, nil
}
