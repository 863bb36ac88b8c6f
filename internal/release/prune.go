package release

import (
	"fmt"
	"slices"
	"strings"

	helmrelease "helm.sh/helm/v3/pkg/release"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
	"github.com/darkroom-operator/darkroom-operator/internal/release/ownership"
	"github.com/darkroom-operator/darkroom-operator/internal/release/storage"
	"github.com/darkroom-operator/darkroom-operator/internal/rollout"
)

// Objects that a Darkroom owns but that are not part of its release are pruned. They include objects of failed revisions
// and of revisions that are no longer in Helm's history. Objects that serve requests are kept until their replacement
// does (see neededStill), so that neither a stuck rollout nor a killed operator affects running pods. Objects without an
// owner are reported, and never deleted (see warnOfStrays).

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

// ownedExcept returns the objects that belong to the Darkroom and are not desired, without Helm's Secrets. It combines
// the caches with recently applied objects that the caches do not show yet.
func (c *ActionClient) ownedExcept(desired []manifest.Key) ([]owned, error) {
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
	for _, trace := range c.memory.objects.TracesExcept(desired) {
		if !slices.ContainsFunc(found, func(o owned) bool { return o.key() == trace.Key() }) {
			found = append(found, owned{Kind: trace.Kind, Name: trace.Name, UID: trace.UID})
		}
	}
	slices.SortFunc(found, func(a, b owned) int { return strings.Compare(a.String(), b.String()) })
	return found, nil
}

// prune deletes owned objects that are neither desired nor still needed. It sends no request if there are none.
func (c *ActionClient) prune() error {
	var desired []manifest.Key
	for _, object := range c.memory.objects.Desired() {
		desired = append(desired, object.Key)
	}
	if len(desired) == 0 {
		return fmt.Errorf("release %s: %w", c.key, errNotRendered) // otherwise everything would be pruned
	}
	unused, err := c.ownedExcept(desired)
	if err != nil || len(unused) == 0 {
		return err
	}
	needed, err := c.neededStill(desired, unused)
	if err != nil {
		return fmt.Errorf("release %s: %w", c.key, err)
	}
	for _, object := range unused {
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

// remove deletes an object if it still belongs to the Darkroom. The precondition is the cached version, or after a
// conflict the version read from the API server. An object that waits for finalizers counts as deleted.
func (c *ActionClient) remove(object owned) error {
	live := object.live
	if live != nil && live.GetDeletionTimestamp() != nil {
		c.memory.objects.Removed(object.key())
		return nil
	}
	for range applyAttempts {
		if live == nil {
			existing, err := c.readOwned(object.Kind, object.Name)
			if err != nil {
				return err
			}
			if existing == nil || existing.UID != object.UID {
				c.memory.objects.Removed(object.key())
				return nil
			}
			live = existing
		}
		version := live.GetResourceVersion()
		err := c.Client.Delete(c.ctx, c.metadataOf(object.Kind, object.Name),
			client.Preconditions{UID: &object.UID, ResourceVersion: &version},
			client.PropagationPolicy(metav1.DeletePropagationBackground))
		switch {
		case err == nil, isGone(err):
			c.memory.objects.Removed(object.key())
			return nil
		case !apierrors.IsConflict(err):
			return fmt.Errorf("delete %s: %w", object, err)
		}
		live = nil
	}
	return fmt.Errorf("delete %s: %w", object, errContended)
}

// readOwned reads the metadata of an object of the Darkroom from the API server; nil if the object does not exist or
// belongs to others.
func (c *ActionClient) readOwned(kind schema.GroupVersionKind, name string) (*metav1.PartialObjectMetadata, error) {
	existing, err := c.readMetadata(kind, name)
	if existing != nil && !ownership.Owns(c.darkroom, existing) {
		return nil, nil //nolint:nilnil // see above
	}
	return existing, err
}

// neededStill returns a function that reports whether serving pods or routes still need an object that is not desired.
func (c *ActionClient) neededStill(desired []manifest.Key, unused []owned) (func(owned) bool, error) {
	rolledOut, err := c.rolledOut()
	if err != nil {
		return nil, err
	}
	routes, err := c.neededRoutes(desired, unused)
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
	return !c.Postponed && c.Shown(c.key, DeploymentOf(c.key), deployment) && rollout.IsComplete(deployment), nil
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

// warnOfStrays records an event that lists strays: objects of the last revision that are not desired and have no owner,
// because a user created them with `helm upgrade`. Revisions of the operator have
// no strays and cause no request.
func (c *ActionClient) warnOfStrays(last *helmrelease.Release, desired []*unstructured.Unstructured) error {
	before, err := manifest.Parse(last.Manifest, c.key.Namespace)
	if err != nil {
		return nil //nolint:nilerr // another client wrote the manifest, so it is never applied
	}
	keep := map[manifest.Key]bool{}
	for _, object := range desired {
		keep[manifest.KeyOf(object)] = true
	}
	var strays []string
	for _, object := range before {
		key := manifest.KeyOf(object)
		if keep[key] || !slices.Contains(c.Kinds(), object.GroupVersionKind()) {
			continue
		}
		if owned, err := c.lookUp(object); err != nil || owned != nil {
			if err != nil {
				return err
			}
			continue
		}
		live, err := c.readMetadata(object.GroupVersionKind(), object.GetName())
		if err != nil {
			return err
		}
		if live != nil && metav1.GetControllerOfNoCopy(live) == nil &&
			live.GetAnnotations()[ownership.AnnotationReleaseName] == c.key.Name {
			strays = append(strays, key.String())
		}
	}
	if len(strays) > 0 {
		c.Recorder.Event(c.darkroom, true, EventStrayObjects, fmt.Sprintf("Another Helm client created revision %d. Some of "+
			"its objects still exist but have no owner; delete them: %s", last.Version, strings.Join(strays, ", ")))
	}
	return nil
}
