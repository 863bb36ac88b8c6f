package release

import (
	"encoding/json"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/internal/gateway"
	"github.com/darkroom-operator/darkroom-operator/internal/release/drift"
	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
	"github.com/darkroom-operator/darkroom-operator/internal/release/storage"
	"github.com/darkroom-operator/darkroom-operator/internal/rollout"
)

var (
	ingresses  = schema.GroupKind{Group: networkingv1.GroupName, Kind: "Ingress"}
	httpRoutes = schema.GroupKind{Group: gatewayv1.GroupName, Kind: "HTTPRoute"}
)

func isRoute(kind schema.GroupKind) bool { return kind == ingresses || kind == httpRoutes }

// neededRoutes returns the routes that are not desired and must be kept for now. When a Darkroom moves from an Ingress to
// an HTTPRoute, or back, the old route is kept until the new one is accepted. An old route without any host of the new
// one is not kept.
func (c *ActionClient) neededRoutes(desired []manifest.Key, unused []owned) ([]manifest.Key, error) {
	successor, found, err := c.successor(desired)
	if err != nil || !found || successor != nil && isAccepted(successor) {
		return nil, err
	}
	var needed []manifest.Key
	for _, object := range unused {
		if !isRoute(object.Kind.GroupKind()) || object.live == nil {
			continue
		}
		if successor == nil || slices.ContainsFunc(gateway.Hosts(object.live), isHostOf(successor)) {
			needed = append(needed, object.key())
		}
	}
	return needed, nil
}

// successor returns the desired route from the caches; nil if the caches do not show its last apply yet. The second
// result is false if the release has no route.
func (c *ActionClient) successor(desired []manifest.Key) (metav1.Object, bool, error) {
	at := slices.IndexFunc(desired, func(key manifest.Key) bool { return isRoute(key.GroupKind) })
	if at < 0 {
		return nil, false, nil
	}
	key := desired[at]
	live, err := c.cached(key)
	if live == nil || !c.Shown(c.key, key, live) {
		return nil, true, err
	}
	return live, true, nil
}

// trim removes hosts that the successor lacks from an Ingress that is kept for now, because these hosts may belong to
// another Darkroom.
func (c *ActionClient) trim(desired []manifest.Key, object owned) error {
	ingress, isIngress := object.live.(*networkingv1.Ingress)
	if !isIngress {
		return nil
	}
	successor, _, err := c.successor(desired)
	if err != nil || successor == nil {
		return err
	}
	keeps := isHostOf(successor)
	rules := slices.DeleteFunc(slices.Clone(ingress.Spec.Rules),
		func(rule networkingv1.IngressRule) bool { return !keeps(rule.Host) })
	if len(rules) == len(ingress.Spec.Rules) {
		return nil
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": ingress.UID},
		"spec":     map[string]any{"rules": rules},
	})
	if err != nil {
		return fmt.Errorf("encode patch of %s: %w", object, err)
	}
	if err := c.Client.Patch(c.ctx, ingress.DeepCopy(), client.RawPatch(types.MergePatchType, patch),
		client.FieldOwner(FieldManager)); err != nil {
		return fmt.Errorf("remove hosts from %s: %w", object, err)
	}
	return nil
}

// isHostOf returns a function that reports whether a host belongs to a route.
func isHostOf(route metav1.Object) func(string) bool {
	hosts := gateway.Hosts(route)
	return func(host string) bool { return slices.Contains(hosts, host) }
}

// isAccepted reports whether a route is accepted. An HTTPRoute must be accepted by each of its Gateways in its current
// generation. An Ingress has no such status and counts as accepted.
func isAccepted(route metav1.Object) bool {
	typed, ok := route.(*gatewayv1.HTTPRoute)
	if !ok {
		return true
	}
	_, all := gateway.AcceptedBy(typed)
	return all
}

// Changed reports whether an object changed outside its status. A revision counts as changed only if another Helm
// client wrote it.
func Changed(before, after metav1.Object) bool {
	if storage.IsRevision(after) {
		return storage.WrittenByHand(after)
	}
	return drift.Differ(before, after)
}

// BeginsToServe reports whether a change completes a rollout or accepts a route. Objects that were kept until then can
// be deleted.
func BeginsToServe(before, after client.Object) bool {
	old, wasDeployment := before.(*appsv1.Deployment)
	now, isDeployment := after.(*appsv1.Deployment)
	if wasDeployment && isDeployment {
		return !rollout.IsComplete(old) && rollout.IsComplete(now)
	}
	return !isAccepted(before) && isAccepted(after)
}
