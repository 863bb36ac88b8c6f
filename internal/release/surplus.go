package release

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
	"github.com/darkroom-operator/darkroom-operator/internal/release/ownership"
	"github.com/darkroom-operator/darkroom-operator/internal/release/storage"
	"github.com/darkroom-operator/darkroom-operator/internal/rolloutstatus"
)

// Objects that a Darkroom owns but that are not part of its release are surplus and are deleted. They include objects
// of failed revisions and of revisions that are no longer in Helm's history. Objects that serve requests are kept until
// their replacement does (see neededStill), so that neither a stuck rollout nor a killed operator affects running pods.

var deployments = appsv1.SchemeGroupVersion.WithKind("Deployment")

// owned is an object that belongs to the Darkroom.
type owned struct {
	Kind schema.GroupVersionKind
	Name string
	UID  types.UID
	// live is the cached object; nil if the caches do not show it yet.
	live metav1.Object
}

func (o owned) key() manifest.Key { return manifest.Key{GroupKind: o.Kind.GroupKind(), Name: o.Name} }
func (o owned) String() string    { return o.key().String() }

// inventory returns all objects that belong to the Darkroom and are not desired, except for Helm's Secrets. It combines
// the caches with recently applied objects that the caches do not show yet.
func (c *ActionClient) inventory(desired []manifest.Key) ([]owned, error) {
	var found []owned
	err := c.Owned(c.ctx, c.darkroom, func(kind schema.GroupVersionKind, object metav1.Object) {
		item := owned{kind, object.GetName(), object.GetUID(), object}
		if ownership.Owns(c.darkroom, object) && !storage.IsRevision(object) && !slices.Contains(desired, item.key()) {
			found = append(found, item)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("list the objects of release %s: %w", c.key, err)
	}
	for _, trace := range c.memory.objects.Surplus(desired) {
		if !slices.ContainsFunc(found, func(o owned) bool { return o.key() == trace.Key() }) {
			found = append(found, owned{Kind: trace.Kind, Name: trace.Name, UID: trace.UID})
		}
	}
	slices.SortFunc(found, func(a, b owned) int { return strings.Compare(a.String(), b.String()) })
	return found, nil
}

// removeSurplus deletes surplus objects that are no longer needed. It sends no request if there are none.
func (c *ActionClient) removeSurplus() error {
	var desired []manifest.Key
	for _, object := range c.memory.objects.Desired() {
		desired = append(desired, object.Key)
	}
	if len(desired) == 0 {
		return fmt.Errorf("release %s: %w", c.key, errNotRendered) // otherwise everything would be surplus
	}
	surplus, err := c.inventory(desired)
	if err != nil || len(surplus) == 0 {
		return err
	}
	needed, err := c.neededStill(desired, surplus)
	if err != nil {
		return fmt.Errorf("release %s: %w", c.key, err)
	}
	for _, object := range surplus {
		if needed(object) {
			err = c.trim(desired, object)
		} else {
			err = c.remove(object)
		}
		if err != nil {
			return fmt.Errorf("release %s: %w", c.key, err)
		}
	}
	return nil
}

// neededStill returns a function that reports whether a surplus object is still needed by serving pods or routes.
func (c *ActionClient) neededStill(desired []manifest.Key, surplus []owned) (func(owned) bool, error) {
	rolledOut, err := c.rolledOut()
	if err != nil {
		return nil, err
	}
	routes, err := c.neededRoutes(desired, surplus)
	if err != nil {
		return nil, err
	}
	return func(object owned) bool {
		switch object.Kind.GroupKind() {
		case ingresses, httpRoutes:
			return slices.Contains(routes, object.key())
		case schema.GroupKind{Kind: "Service"}:
			return !rolledOut || len(routes) > 0
		case schema.GroupKind{Kind: "ServiceAccount"}:
			return !rolledOut || c.isPodIdentity(object)
		case schema.GroupKind{Kind: "ConfigMap"}, schema.GroupKind{Kind: "Secret"}, deployments.GroupKind():
			// Until the rollout is complete, pods of the old template may be recreated.
			return !rolledOut
		}
		return false
	}, nil
}

// isPodIdentity reports whether the pods use a ServiceAccount that the release created earlier and that the spec now
// names as an existing one.
func (c *ActionClient) isPodIdentity(account owned) bool {
	deployment, err := c.deployment()
	return err == nil && deployment != nil && deployment.Spec.Template.Spec.ServiceAccountName == account.Name
}

// rolledOut reports whether all pods have the last applied template and are ready, according to the caches.
func (c *ActionClient) rolledOut() (bool, error) {
	deployment, err := c.deployment()
	if err != nil || deployment == nil {
		return false, err
	}
	return !c.Postponed && c.Shown(c.key, DeploymentOf(c.key), deployment) && rolloutstatus.IsComplete(deployment), nil
}

// DeploymentOf returns the key of the Deployment of a Darkroom.
func DeploymentOf(darkroom types.NamespacedName) manifest.Key {
	return manifest.Key{GroupKind: deployments.GroupKind(), Name: darkroom.Name}
}

// deployment returns the Deployment from the caches; nil if there is none.
func (c *ActionClient) deployment() (*appsv1.Deployment, error) {
	live, err := c.cached(DeploymentOf(c.key))
	deployment, _ := live.(*appsv1.Deployment)
	return deployment, err
}
