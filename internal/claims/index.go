package claims

import (
	"context"
	"fmt"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/gateway"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// indexHost is the index of Darkrooms, Ingresses and HTTPRoutes by their hosts. It makes
// the cost of a decision independent of the number of Darkrooms.
const indexHost = "host"

// Cache reads the objects that claims are decided on from the operator's caches, by the
// indexes that Index adds.
type Cache struct {
	// Reader reads from the caches, and Live past them.
	Reader, Live client.Reader
	// BaseDomain is appended to each sub-domain.
	BaseDomain string
	// Handles reports whether this installation handles a Darkroom, or will. The sub-domains of
	// others may have another base domain.
	Handles func(*v1alpha1.Darkroom) bool
	// Routes is set if HTTPRoutes are cached.
	Routes bool
}

// Index adds the indexes to the caches. Call it before they start.
func (c Cache) Index(ctx context.Context, indexer client.FieldIndexer) error {
	for _, object := range append(c.Carriers(), &v1alpha1.Darkroom{}) {
		if err := indexer.IndexField(ctx, object, indexHost, c.Hosts); err != nil {
			return fmt.Errorf("index hosts: %w", err)
		}
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
		for _, subDomain := range darkroom.Spec.SubDomains {
			hosts = append(hosts, values.Host(subDomain, c.BaseDomain))
		}
	case !isDarkroom && isOwned(object):
		hosts = gateway.Hosts(object)
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}

// claimants returns the Darkrooms that claim a host.
func (c Cache) claimants(ctx context.Context, host string) ([]claimant, error) {
	list := &v1alpha1.DarkroomList{}
	if err := c.list(ctx, list, host); err != nil {
		return nil, fmt.Errorf("look for Darkrooms that claim %s: %w", host, err)
	}
	claimants := make([]claimant, len(list.Items))
	for i := range list.Items {
		claimants[i] = claimantOf(&list.Items[i])
	}
	return claimants, nil
}

// carriers returns the Darkrooms whose Ingress or HTTPRoute has a host.
func (c Cache) carriers(ctx context.Context, host string) ([]carrier, error) {
	ingresses, routes := &networkingv1.IngressList{}, &gatewayv1.HTTPRouteList{}
	err := c.list(ctx, ingresses, host)
	if err == nil && c.Routes {
		err = c.list(ctx, routes, host)
	}
	if err != nil {
		return nil, fmt.Errorf("look for the routes of %s: %w", host, err)
	}
	var objects []client.Object
	for i := range ingresses.Items {
		objects = append(objects, &ingresses.Items[i])
	}
	for i := range routes.Items {
		objects = append(objects, &routes.Items[i])
	}
	carriers := make([]carrier, 0, len(objects))
	for _, object := range objects {
		owner, cached, err := c.ownerOf(ctx, object)
		if err != nil {
			return nil, fmt.Errorf("look for the owner of %s at %s: %w", client.ObjectKeyFromObject(object), host, err)
		}
		if owner != nil {
			carriers = append(carriers, carrier{
				claimant: claimant{keyOf(owner), object.GetCreationTimestamp()},
				known:    cached && c.Handles(owner),
			})
		}
	}
	return carriers, nil
}

// isOwned reports whether an Ingress or HTTPRoute has the label of a Darkroom and names the
// same one as its controller.
func isOwned(object client.Object) bool {
	controller := metav1.GetControllerOfNoCopy(object)
	return controller != nil && controller.Kind == v1alpha1.Kind && controller.APIVersion == v1alpha1.GroupVersion.String() &&
		controller.Name == object.GetLabels()[v1alpha1.LabelDarkroom]
}

// ownerOf returns the Darkroom that an Ingress or HTTPRoute belongs to, and whether the caches have
// it: they lack those of other shards. It returns nil if none has the UID that the object names.
// Users can write label and owner reference, but not make that UID exist.
func (c Cache) ownerOf(ctx context.Context, object client.Object) (*v1alpha1.Darkroom, bool, error) {
	key, owner, cached := ownerKey(object), &v1alpha1.Darkroom{}, true
	err := c.Reader.Get(ctx, key, owner, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) {
		cached = false
		err = c.Live.Get(ctx, key, owner)
	}
	if err != nil || !metav1.IsControlledBy(object, owner) {
		return nil, false, client.IgnoreNotFound(err)
	}
	return owner, cached, nil
}

// list lists the objects with a host. They are shared with the cache and only read.
func (c Cache) list(ctx context.Context, list client.ObjectList, host string) error {
	return c.Reader.List(ctx, list, client.MatchingFields{indexHost: host}, client.UnsafeDisableDeepCopy)
}

func keyOf(object client.Object) types.NamespacedName { return client.ObjectKeyFromObject(object) }

// Precedes reports whether the claims of a Darkroom precede those of another: the older
// Darkroom's do.
func Precedes(darkroom, other *v1alpha1.Darkroom) bool {
	return claimantOf(darkroom).before(claimantOf(other))
}

func claimantOf(darkroom *v1alpha1.Darkroom) claimant {
	return claimant{keyOf(darkroom), darkroom.CreationTimestamp}
}

// ownerKey returns the Darkroom that an Ingress or HTTPRoute names as its own.
func ownerKey(object client.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetLabels()[v1alpha1.LabelDarkroom]}
}

// views returns the state of the hosts that a Darkroom claims, in the caches.
func (c Cache) views(ctx context.Context, darkroom *v1alpha1.Darkroom) ([]view, error) {
	var views []view
	for _, host := range c.Hosts(darkroom) {
		claimants, err := c.claimants(ctx, host)
		if err != nil {
			return nil, err
		}
		carriers, err := c.carriers(ctx, host)
		if err != nil {
			return nil, err
		}
		views = append(views, view{host: host, claimants: claimants, carriers: carriers})
	}
	return views, nil
}

// Rivals returns the Darkrooms that claim a host of an object – a Darkroom, an
// Ingress or an HTTPRoute – and are not that Darkroom or its.
func (c Cache) Rivals(ctx context.Context, object client.Object) ([]types.NamespacedName, error) {
	darkroom, isDarkroom := object.(*v1alpha1.Darkroom)
	if !isDarkroom {
		return c.others(ctx, ownerKey(object), c.Hosts(object))
	}
	// One that is being deleted no longer claims its hosts.
	alive := darkroom.DeepCopy()
	alive.DeletionTimestamp = nil
	return c.others(ctx, keyOf(object), c.Hosts(alive))
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
