package claims

import (
	"context"
	"fmt"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// indexHost is the index of Darkrooms, Ingresses and HTTPRoutes by their hosts. It makes
// the cost of a decision independent of the number of Darkrooms.
const indexHost = "host"

// Cache reads the objects that claims are decided on from the operator's caches, by the
// indexes that Index adds.
type Cache struct {
	// Reader reads from the caches.
	Reader client.Reader
	// BaseDomain is appended to each sub-domain.
	BaseDomain string
	// Routes is set if HTTPRoutes are cached.
	Routes bool
}

// Index adds the indexes to the caches. Call it before they start.
func (c Cache) Index(ctx context.Context, indexer client.FieldIndexer) error {
	index := func(object client.Object) error {
		return indexer.IndexField(ctx, object, indexHost, c.Hosts)
	}
	for _, object := range append(c.Carriers(), &v1alpha1.Darkroom{}) {
		if err := index(object); err != nil {
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

// Hosts returns the hosts that a Darkroom claims, or that an Ingress or HTTPRoute has.
func (c Cache) Hosts(object client.Object) []string {
	var hosts []string
	switch object := object.(type) {
	case *v1alpha1.Darkroom:
		if object.DeletionTimestamp != nil {
			return nil
		}
		for _, subDomain := range object.Spec.SubDomains {
			hosts = append(hosts, values.Host(subDomain, c.BaseDomain))
		}
	case *networkingv1.Ingress:
		for _, rule := range object.Spec.Rules {
			if rule.Host != "" {
				hosts = append(hosts, rule.Host)
			}
		}
	case *gatewayv1.HTTPRoute:
		for _, host := range object.Spec.Hostnames {
			hosts = append(hosts, string(host))
		}
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
	ingresses := &networkingv1.IngressList{}
	if err := c.list(ctx, ingresses, host); err != nil {
		return nil, fmt.Errorf("look for Ingresses with %s: %w", host, err)
	}
	routes := &gatewayv1.HTTPRouteList{}
	if c.Routes {
		if err := c.list(ctx, routes, host); err != nil {
			return nil, fmt.Errorf("look for HTTPRoutes with %s: %w", host, err)
		}
	}
	carriers := make([]carrier, 0, len(ingresses.Items)+len(routes.Items))
	for i := range ingresses.Items {
		carriers = append(carriers, carrier{claimant: carrierOf(&ingresses.Items[i])})
	}
	for i := range routes.Items {
		carriers = append(carriers, carrier{claimant: carrierOf(&routes.Items[i])})
	}
	return carriers, nil
}

// isKnown reports whether this operator handles a Darkroom.
func (c Cache) isKnown(ctx context.Context, key types.NamespacedName) (bool, error) {
	err := c.Reader.Get(ctx, key, &v1alpha1.Darkroom{}, client.UnsafeDisableDeepCopy)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, err
}

// list lists the objects with a host. They are shared with the cache and only read.
func (c Cache) list(ctx context.Context, list client.ObjectList, host string) error {
	return c.Reader.List(ctx, list, client.MatchingFields{indexHost: host}, client.UnsafeDisableDeepCopy)
}

func claimantOf(object client.Object) claimant {
	return claimant{client.ObjectKeyFromObject(object), object.GetCreationTimestamp()}
}

// carrierOf returns the Darkroom of an Ingress or HTTPRoute, with the creation time of that
// object.
func carrierOf(object client.Object) claimant {
	return claimant{
		types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetLabels()[v1alpha1.LabelDarkroom]},
		object.GetCreationTimestamp(),
	}
}

// viewOf returns the state of a host in the caches, for a Darkroom that claims it.
func (c Cache) viewOf(ctx context.Context, me types.NamespacedName, host string) (view, error) {
	var v view
	var err error
	if v.claimants, err = c.claimants(ctx, host); err != nil {
		return view{}, err
	}
	if v.carriers, err = c.carriers(ctx, host); err != nil {
		return view{}, err
	}
	for i := range v.carriers {
		if v.carriers[i].NamespacedName == me {
			continue
		}
		if v.carriers[i].known, err = c.isKnown(ctx, v.carriers[i].NamespacedName); err != nil {
			return view{}, err
		}
	}
	return v, nil
}

// Refusals returns the hosts that a Darkroom claims and that belong to others according to
// the caches.
func (c Cache) Refusals(ctx context.Context, darkroom *v1alpha1.Darkroom) ([]Refusal, error) {
	me := claimantOf(darkroom)
	var refusals []Refusal
	for _, host := range c.Hosts(darkroom) {
		v, err := c.viewOf(ctx, me.NamespacedName, host)
		if err != nil {
			return nil, err
		}
		if refusal, refused := decide(me, host, v); refused {
			refusals = append(refusals, refusal)
		}
	}
	return refusals, nil
}

// Rivals returns the Darkrooms that claim a host of an object – a Darkroom, an
// Ingress or an HTTPRoute – and are not that Darkroom or its.
func (c Cache) Rivals(ctx context.Context, object client.Object) ([]types.NamespacedName, error) {
	self := client.ObjectKeyFromObject(object)
	if _, isDarkroom := object.(*v1alpha1.Darkroom); !isDarkroom {
		self = carrierOf(object).NamespacedName
	}
	return c.others(ctx, self, c.claimedBy(object))
}

// claimedBy returns the hosts of an object, including those of a Darkroom that is being
// deleted.
func (c Cache) claimedBy(object client.Object) []string {
	if darkroom, ok := object.(*v1alpha1.Darkroom); ok && darkroom.DeletionTimestamp != nil {
		alive := &v1alpha1.Darkroom{}
		alive.Spec.SubDomains = darkroom.Spec.SubDomains
		return c.Hosts(alive)
	}
	return c.Hosts(object)
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
