package release

import (
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/internal/gateway"
	"github.com/darkroom-operator/darkroom-operator/internal/release/drift"
	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
	"github.com/darkroom-operator/darkroom-operator/internal/release/storage"
)

var (
	ingresses  = schema.GroupKind{Group: networkingv1.GroupName, Kind: "Ingress"}
	httpRoutes = schema.GroupKind{Group: gatewayv1.GroupName, Kind: "HTTPRoute"}
)

func isRoute(kind schema.GroupKind) bool { return kind == ingresses || kind == httpRoutes }

// neededRoutes returns the surplus routes that have to stay for a while: a Darkroom that
// moves from an Ingress to an HTTPRoute, or back, keeps the old route until the new one is
// accepted. A route with a host that the new one lacks goes at once, because that host may
// have been given to another Darkroom.
func (c *actionClient) neededRoutes(desired []manifest.Key, surplus []owned) ([]manifest.Key, error) {
	var needed []manifest.Key
	for _, object := range surplus {
		if !isRoute(object.Kind.GroupKind()) || object.live == nil {
			continue
		}
		replaced, err := c.isReplaced(desired, gateway.Hosts(object.live))
		if err != nil {
			return nil, err
		}
		if !replaced {
			needed = append(needed, object.key())
		}
	}
	return needed, nil
}

// isReplaced reports whether a surplus route with some hosts is no longer needed.
func (c *actionClient) isReplaced(desired []manifest.Key, hosts []string) (bool, error) {
	for _, key := range desired {
		if !isRoute(key.GroupKind) {
			continue
		}
		live, err := c.Live(c.ctx, key.GroupKind, types.NamespacedName{Namespace: c.key.Namespace, Name: key.Name})
		switch {
		case apierrors.IsNotFound(err), err == nil && live == nil:
			return false, nil // the cache does not show it yet
		case err != nil:
			return false, fmt.Errorf("look for %s: %w", key, err)
		}
		if !c.Shown(c.key, key, live) {
			return false, nil
		}
		next := gateway.Hosts(live)
		lacks := slices.ContainsFunc(hosts, func(host string) bool { return !slices.Contains(next, host) })
		return lacks || isAccepted(live), nil
	}
	return true, nil
}

// isAccepted reports whether a route is accepted: an HTTPRoute by each of its Gateways in
// its current generation. An Ingress has no acceptance status and counts as accepted.
func isAccepted(route metav1.Object) bool {
	typed, ok := route.(*gatewayv1.HTTPRoute)
	if !ok {
		return true
	}
	_, all := gateway.AcceptedBy(typed)
	return all
}

// Changed reports whether an object was changed in more than its status, or a revision by
// another Helm client.
func Changed(before, after metav1.Object) bool {
	if storage.IsRevision(after) {
		return storage.WrittenByHand(after)
	}
	return drift.Differ(before, after)
}

// BeginsToServe reports whether a change of an object is the end of a roll-out, or the
// acceptance of a route. Objects that were kept until then can be removed.
func BeginsToServe(before, after client.Object) bool {
	old, wasDeployment := before.(*appsv1.Deployment)
	now, isDeployment := after.(*appsv1.Deployment)
	if wasDeployment && isDeployment {
		return !RolledOut(old) && RolledOut(now)
	}
	return !isAccepted(before) && isAccepted(after)
}
