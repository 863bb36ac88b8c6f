package release

import (
	"context"
	"errors"
	"fmt"
	"slices"

	helmrelease "helm.sh/helm/v3/pkg/release"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/preflight"
	"github.com/darkroom-operator/darkroom-operator/internal/probe"
	"github.com/darkroom-operator/darkroom-operator/internal/release/digest"
	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
	"github.com/darkroom-operator/darkroom-operator/internal/release/ownership"
)

// ErrHeld is returned if a change is not applied because its pod has not served an image.
var ErrHeld = errors.New("the change is held back until a pod of it serves the image of spec.probe")

// change is a change of a release that has to pass a preflight check.
type change struct {
	// id identifies the change among those of the Darkroom.
	id     string
	target probe.Target
}

// changeTo returns the change to a manifest, given by its identity; nil if the Darkroom
// has no probe, or probes are turned off.
func (c *actionClient) changeTo(identity string) *change {
	darkroom, ok := c.darkroom.(*v1alpha1.Darkroom)
	if !ok || c.Preflight == nil {
		return nil
	}
	target, probed := probe.TargetOf(darkroom)
	if !probed {
		return nil
	}
	id := fmt.Sprintf("%x", digest.Of([]any{identity, darkroom.Generation}))
	return &change{id: id[:10], target: target}
}

// mayApply reports whether a change from the last revision to the next one may be applied.
// A change that no pod would notice, and one that no ready pod can suffer from, may. The
// revisions are only read if the change is to be checked.
func (c *actionClient) mayApply(change *change, revisions func() (last, next *helmrelease.Release, err error)) (bool, error) {
	if verdict, known := c.Preflight.Known(c.key, change.id); known {
		return verdict.State == preflight.Served, nil
	}
	last, next, err := revisions()
	if err != nil {
		return false, err
	}
	objects, err := manifest.Parse(next.Manifest, c.key.Namespace)
	if err != nil {
		return false, fmt.Errorf("release %s: %w", c.key, err)
	}
	before, err := manifest.Parse(last.Manifest, c.key.Namespace)
	if err != nil {
		return false, fmt.Errorf("release %s: %w", c.key, err)
	}
	deployment := workload(objects)
	if deployment == nil || digest.Of(template(workload(before))) == digest.Of(template(deployment)) {
		c.Preflight.Forget(c.key)
		return true, nil
	}
	serves, err := c.hasReadyPods(deployment.GetName())
	if err != nil || !serves {
		c.Preflight.Forget(c.key)
		return err == nil, err
	}
	extra, err := preflight.Workload(deployment, change.id)
	if err != nil {
		return false, fmt.Errorf("release %s: %w", c.key, err)
	}
	pilot := &pilot{actionClient: c, objects: objects, workload: extra}
	verdict := c.Preflight.Check(c.key, preflight.Change{ID: change.id, Target: change.target, Start: pilot.start, Remove: pilot.remove})
	return verdict.State == preflight.Served, nil
}

// workload returns the Deployment among the objects of a release; nil if there is none.
func workload(objects []*unstructured.Unstructured) *unstructured.Unstructured {
	at := slices.IndexFunc(objects, func(object *unstructured.Unstructured) bool {
		return manifest.KeyOf(object).GroupKind == deployments.GroupKind()
	})
	if at < 0 {
		return nil
	}
	return objects[at]
}

func template(deployment *unstructured.Unstructured) any {
	if deployment == nil {
		return nil
	}
	found, _, _ := unstructured.NestedFieldNoCopy(deployment.Object, "spec", "template")
	return found
}

// hasReadyPods reports whether the caches show ready pods of the Darkroom's Deployment.
func (c *actionClient) hasReadyPods(name string) (bool, error) {
	deployment, err := c.deployment(name)
	if err != nil || deployment == nil {
		return false, err
	}
	return ownership.Owns(c.darkroom, deployment) && deployment.Status.ReadyReplicas > 0, nil
}

// pilot is the Deployment of a preflight pod, with what the pod needs.
type pilot struct {
	*actionClient

	// objects are those of the release that is checked.
	objects  []*unstructured.Unstructured
	workload *unstructured.Unstructured
	uid      types.UID
}

// start creates the Deployment, after the objects that its pod reads. The names of
// configuration and credentials contain a hash of their content, so no other pod reads
// them. An existing ServiceAccount is not changed.
func (p *pilot) start(ctx context.Context) (preflight.Identity, error) {
	started := preflight.Identity{NamespacedName: client.ObjectKeyFromObject(p.workload)}
	for _, object := range p.objects {
		if !isRead(manifest.KeyOf(object).GroupKind) {
			continue
		}
		if _, err := p.Live(ctx, object.GroupVersionKind().GroupKind(), client.ObjectKeyFromObject(object)); !apierrors.IsNotFound(err) {
			if err != nil {
				return started, fmt.Errorf("look for %s: %w", manifest.KeyOf(object), err)
			}
			continue
		}
		if _, err := p.applier().put(ctx, object); err != nil {
			return started, err
		}
	}
	live, err := p.applier().write(ctx, p.workload, "")
	switch {
	case err == nil:
		p.uid = live.GetUID()
	case apierrors.IsConflict(err):
		// Left behind by an operator that was killed.
		p.uid, err = p.applier().liveUID(ctx, p.workload)
	}
	started.UID = p.uid
	return started, err
}

// remove deletes the Deployment. Of the objects that its pod reads, those that the release
// does not use are surplus.
func (p *pilot) remove(ctx context.Context) error {
	return p.applier().remove(ctx, owned{Kind: deployments, Name: p.workload.GetName(), UID: p.uid})
}

// isRead reports whether pods read objects of a kind.
func isRead(kind schema.GroupKind) bool {
	switch kind {
	case schema.GroupKind{Kind: "ConfigMap"}, schema.GroupKind{Kind: "Secret"}, schema.GroupKind{Kind: "ServiceAccount"}:
		return true
	}
	return false
}

// isPreflight reports whether an object belongs to a preflight check.
func isPreflight(object metav1.Object) bool {
	return object != nil && object.GetLabels()[v1alpha1.LabelPreflight] != ""
}

// isChecking reports whether the preflight check of a change of the Darkroom is under way.
func (c *actionClient) isChecking() bool {
	if c.Preflight == nil {
		return false
	}
	verdict, found := c.Preflight.Verdict(c.key)
	return found && verdict.State == preflight.Running
}
