package release

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
)

// DeploymentOf returns the key of the Deployment of a Darkroom.
func DeploymentOf(darkroom types.NamespacedName) manifest.Key {
	return manifest.Key{GroupKind: deployments.GroupKind(), Name: darkroom.Name}
}

// Applied reports whether this process has applied an object of a Darkroom, or found it as an earlier process left it.
func (r *Releases) Applied(key types.NamespacedName, object manifest.Key) bool {
	_, applied := r.recall(key).objects.Trace(object)
	return applied
}

// Rolls reports whether the desired release replaces the pods of its Deployment. The API server decides: it
// knows defaults, and what other clients and webhooks add. Two requests, which change nothing: the caches lack
// most of a template.
func (c *ActionClient) Rolls() (bool, error) {
	next, err := c.rendered()
	if err != nil {
		return false, err
	}
	for _, object := range next.objects {
		if manifest.KeyOf(object) != DeploymentOf(c.key) {
			continue
		}
		live := &appsv1.Deployment{}
		if err := c.Reader.Get(c.ctx, c.key, live); err != nil {
			return false, fmt.Errorf("look for %s: %w", DeploymentOf(c.key), err)
		}
		after, err := Apply(c.ctx, c.Client, c.darkroom, object, live.UID, client.DryRunAll)
		if err != nil {
			return false, fmt.Errorf("ask the API server how %s of release %s would look: %w", DeploymentOf(c.key), c.key, err)
		}
		var deployment appsv1.Deployment
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(after.Object, &deployment); err != nil {
			return false, fmt.Errorf("read %s of release %s: %w", DeploymentOf(c.key), c.key, err)
		}
		return !equality.Semantic.DeepEqual(live.Spec.Template, deployment.Spec.Template), nil
	}
	return false, nil
}
