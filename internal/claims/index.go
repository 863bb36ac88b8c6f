package claims

import (
	"context"
	"errors"
	"fmt"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/gateway"
)

// indexHost is the index of Darkrooms, Ingresses and HTTPRoutes by their hosts. It makes
// the cost of a decision independent of the number of Darkrooms.
const indexHost = "host"

// indexAssigned is the index of Darkrooms by the hosts that were assigned to them.
const indexAssigned = "assigned"

// Cache reads the objects that claims are decided on from the operator's caches, by the
// indexes that Index adds.
type Cache struct {
	// Darkrooms reads from a cache of all Darkrooms, those of other shards included; Reader reads
	// their routes from the caches, and Live past them.
	Darkrooms, Reader, Live client.Reader
	// Sharded is set if Darkrooms is another cache than that of the Darkrooms which are reconciled, so that it
	// may show the claims of one later.
	Sharded bool
	// HostsOf returns the hosts that a Darkroom claims.
	HostsOf func(*v1alpha1.Darkroom) []string
	// Handles reports whether this installation handles a Darkroom, or will. The sub-domains of
	// others may have another base domain.
	Handles func(*v1alpha1.Darkroom) bool
	// Routes is set if HTTPRoutes are cached.
	Routes bool
}

// Index adds the indexes to the cache of Darkrooms and to that of their routes. Call it before they
// start.
func (c Cache) Index(ctx context.Context, darkrooms, routes client.FieldIndexer) error {
	errs := []error{
		darkrooms.IndexField(ctx, &v1alpha1.Darkroom{}, indexHost, c.Hosts),
		darkrooms.IndexField(ctx, &v1alpha1.Darkroom{}, indexAssigned, assigned),
	}
	for _, object := range c.Carriers() {
		errs = append(errs, routes.IndexField(ctx, object, indexHost, c.Hosts))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("index hosts: %w", err)
	}
	return nil
}

// Carriers returns an empty object of each kind that routes hosts.
func (c Cache) Carriers() []client.Object {
	if c.Routes {
		return []client.Object{&networkingv1.Ingress{}, &gatewayv1.HTTPRoute{}}
	}
	return []client.Object{&networkingv1.Ingress{}}
}

// Hosts returns the hosts that a Darkroom claims, or that an Ingress or HTTPRoute of a
// Darkroom has.
func (c Cache) Hosts(object client.Object) []string {
	var hosts []string
	switch darkroom, isDarkroom := object.(*v1alpha1.Darkroom); {
	case isDarkroom && darkroom.DeletionTimestamp == nil && c.Handles(darkroom):
		hosts = c.HostsOf(darkroom)
	case !isDarkroom && isOwned(object):
		hosts = gateway.Hosts(object)
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}

// claimants returns the Darkrooms that claim a host.
func (c Cache) claimants(ctx context.Context, host string) ([]claimant, error) {
	found := &v1alpha1.DarkroomList{}
	if err := list(ctx, c.Darkrooms, found, indexHost, host); err != nil {
		return nil, fmt.Errorf("look for Darkrooms that claim %s: %w", host, err)
	}
	claimants := make([]claimant, len(found.Items))
	for i := range found.Items {
		claimants[i] = claimantOf(&found.Items[i])
	}
	return claimants, nil
}

// routes reads the routes of the host of a view: those of the Darkroom itself, and the Darkrooms
// that carry it, too.
func (c Cache) routes(ctx context.Context, me types.NamespacedName, v *view) error {
	ingresses, routes := &networkingv1.IngressList{}, &gatewayv1.HTTPRouteList{}
	err := list(ctx, c.Reader, ingresses, indexHost, v.host)
	if err == nil && c.Routes {
		err = list(ctx, c.Reader, routes, indexHost, v.host)
	}
	if err != nil {
		return fmt.Errorf("look for the routes of %s: %w", v.host, err)
	}
	var objects []client.Object
	for i := range ingresses.Items {
		objects = append(objects, &ingresses.Items[i])
	}
	for i := range routes.Items {
		objects = append(objects, &routes.Items[i])
	}
	for _, object := range objects {
		owner, err := c.ownerOf(ctx, object)
		switch {
		case err != nil:
			return fmt.Errorf("look for the owner of %s at %s: %w", client.ObjectKeyFromObject(object), v.host, err)
		case owner == nil:
		case client.ObjectKeyFromObject(owner) == me:
			v.routed = true
		default:
			v.carriers = append(v.carriers, c.carrierOf(owner, v.host))
		}
	}
	return c.hidden(ctx, me, v)
}

// hidden reads past the caches the routes of the other Darkrooms that the host of a view was assigned to, if the
// caches show none: they do not show routes whose label a user has removed.
func (c Cache) hidden(ctx context.Context, me types.NamespacedName, v *view) error {
	holders := &v1alpha1.DarkroomList{}
	if err := list(ctx, c.Darkrooms, holders, indexAssigned, v.host); err != nil {
		return fmt.Errorf("look for Darkrooms that have %s: %w", v.host, err)
	}
	for i := range holders.Items {
		holder := &holders.Items[i]
		key := client.ObjectKeyFromObject(holder)
		isHolder := func(c carrier) bool { return c.NamespacedName == key }
		if key == me || slices.ContainsFunc(v.carriers, isHolder) {
			continue
		}
		routed, err := c.routed(ctx, c.Live, key)
		if err != nil {
			return fmt.Errorf("look for the routes of Darkroom %s: %w", key, err)
		}
		if slices.Contains(routed, v.host) {
			v.carriers, v.hidden = append(v.carriers, c.carrierOf(holder, v.host)), true
		}
	}
	return nil
}

// routed returns the hosts that are routed to a Darkroom according to a reader.
func (c Cache) routed(ctx context.Context, in client.Reader, darkroom types.NamespacedName) ([]string, error) {
	var hosts []string
	for _, object := range c.Carriers() {
		if err := in.Get(ctx, darkroom, object); client.IgnoreNotFound(err) != nil {
			return nil, err
		}
		if isRouteOf(object, darkroom.Name) {
			hosts = append(hosts, gateway.Hosts(object)...)
		}
	}
	return hosts, nil
}

func (c Cache) carrierOf(owner *v1alpha1.Darkroom, host string) carrier {
	return carrier{claimantOf(owner), c.Handles(owner), wasAssigned(owner, host), v1alpha1.IsPaused(owner)}
}

// assigned returns the hosts that were assigned to a Darkroom.
func assigned(object client.Object) []string {
	darkroom, _ := object.(*v1alpha1.Darkroom)
	return darkroom.Status.Domains
}

// wasAssigned reports whether a host that is routed to a Darkroom was assigned to it by its operator.
// Users can edit routes and specs, but not the status: its domains are hosts that were assigned.
func wasAssigned(owner *v1alpha1.Darkroom, host string) bool {
	return slices.Contains(assigned(owner), host)
}

// isOwned reports whether an Ingress or HTTPRoute has the label of a Darkroom and names the
// same one as its controller.
func isOwned(object client.Object) bool {
	return isRouteOf(object, object.GetLabels()[v1alpha1.LabelDarkroom])
}

// isRouteOf reports whether an Ingress or HTTPRoute names a Darkroom as its controller.
func isRouteOf(object client.Object, darkroom string) bool {
	controller := metav1.GetControllerOfNoCopy(object)
	return controller != nil && controller.Kind == v1alpha1.Kind &&
		controller.APIVersion == v1alpha1.GroupVersion.String() && controller.Name == darkroom
}

// ownerOf returns the Darkroom that an Ingress or HTTPRoute belongs to; nil if none has the UID that
// the object names. Users can write label and owner reference, but not make that UID exist.
func (c Cache) ownerOf(ctx context.Context, object client.Object) (*v1alpha1.Darkroom, error) {
	owner := &v1alpha1.Darkroom{}
	err := c.Darkrooms.Get(ctx, ownerKey(object), owner, client.UnsafeDisableDeepCopy)
	if err != nil || !metav1.IsControlledBy(object, owner) {
		return nil, client.IgnoreNotFound(err)
	}
	return owner, nil
}

// list lists the objects with a host in an index of a cache. They are shared with it and only read.
func list(ctx context.Context, cache client.Reader, into client.ObjectList, index, host string) error {
	return cache.List(ctx, into, client.MatchingFields{index: host}, client.UnsafeDisableDeepCopy)
}

// Precedes reports whether the claims of a Darkroom precede those of another: the older
// Darkroom's do.
func Precedes(darkroom, other *v1alpha1.Darkroom) bool {
	return claimantOf(darkroom).before(claimantOf(other))
}

func claimantOf(darkroom *v1alpha1.Darkroom) claimant {
	return claimant{client.ObjectKeyFromObject(darkroom), darkroom.CreationTimestamp}
}

// ownerKey returns the Darkroom that an Ingress or HTTPRoute names as its own.
func ownerKey(object client.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetLabels()[v1alpha1.LabelDarkroom]}
}

// views returns the state of the hosts that a Darkroom claims, in the caches.
func (c Cache) views(ctx context.Context, darkroom *v1alpha1.Darkroom) ([]view, error) {
	var views []view
	for _, host := range c.Hosts(darkroom) {
		v := view{host: host}
		var err error
		if v.claimants, err = c.claimants(ctx, host); err != nil {
			return nil, err
		}
		if err := c.routes(ctx, client.ObjectKeyFromObject(darkroom), &v); err != nil {
			return nil, err
		}
		views = append(views, v)
	}
	return views, nil
}

// Rivals returns the Darkrooms that claim a host of an object – a Darkroom, which claims it or still has it,
// or the Ingress or HTTPRoute of one – and are not that Darkroom. A route that another installation handles
// concerns nobody, but for the hosts that were assigned to it. One of no Darkroom may be that of one that has
// just gone, whose hosts others wait for. The Darkroom of a shard itself may have been judged before the cache
// of all Darkrooms showed what it claims, and missed that a host became free.
func (c Cache) Rivals(ctx context.Context, object client.Object) ([]types.NamespacedName, error) {
	darkroom, isDarkroom := object.(*v1alpha1.Darkroom)
	if !isDarkroom {
		owner, err := c.ownerOf(ctx, object)
		if err != nil {
			return nil, err
		}
		hosts := slices.DeleteFunc(c.Hosts(object), func(host string) bool {
			return owner != nil && !c.Handles(owner) && !wasAssigned(owner, host)
		})
		return c.others(ctx, ownerKey(object), hosts)
	}
	// One that is being deleted no longer claims its hosts.
	alive := darkroom.DeepCopy()
	alive.DeletionTimestamp = nil
	key := client.ObjectKeyFromObject(darkroom)
	rivals, err := c.others(ctx, key, append(c.Hosts(alive), darkroom.Status.Domains...))
	if c.Sharded {
		rivals = append(rivals, key)
	}
	return rivals, err
}

// others returns the other Darkrooms that claim one of the hosts.
func (c Cache) others(ctx context.Context, self types.NamespacedName, hosts []string) ([]types.NamespacedName, error) {
	var others []types.NamespacedName
	for _, host := range hosts {
		claimants, err := c.claimants(ctx, host)
		if err != nil {
			return nil, err
		}
		for _, other := range claimants {
			if other.NamespacedName != self && !slices.Contains(others, other.NamespacedName) {
				others = append(others, other.NamespacedName)
			}
		}
	}
	return others, nil
}
