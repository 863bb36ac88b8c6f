package release

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
		live, err := c.read(object)
		if err != nil || live == nil {
			return false, err
		}
		after, err := Apply(c.ctx, c.Client, c.darkroom, object, live.GetUID(), client.DryRunAll)
		if err != nil {
			return false, fmt.Errorf("ask the API server how %s of release %s would look: %w", DeploymentOf(c.key), c.key, err)
		}
		return !equality.Semantic.DeepEqual(templateOf(live), templateOf(after)), nil
	}
	return false, nil
}

func templateOf(deployment *unstructured.Unstructured) any {
	template, _, _ := unstructured.NestedFieldNoCopy(deployment.Object, "spec", "template")
	return template
}
