package release

import (
	"errors"
	"fmt"

	helmrelease "helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
)

// rendering is the chart rendered with the values of one translation. Nothing else is ever applied.
type rendering struct {
	values map[string]any
	// manifest is the digest of the manifest (manifest.Identity).
	manifest string
	// release and objects are nil if these values were rendered by an earlier reconcile. They are then rendered again
	// only if needed.
	release *helmrelease.Release
	objects []*unstructured.Unstructured
}

// digests identify the last rendering of a release. The manifest itself is large and is needed only for writes, so it is
// not kept.
type digests struct{ values, manifest string }

// errNotRendered is returned for a write of a release that was not rendered in this reconcile.
var errNotRendered = errors.New("the release was not rendered in this reconcile")

// Render renders the release of the Darkroom unless the values are unchanged. It refuses values without the
// name or the label of the Darkroom, because they would render the objects of another release.
func (c *ActionClient) Render(values map[string]any) error {
	labels, _ := values["commonLabels"].(map[string]any)
	if values["fullnameOverride"] != c.key.Name || labels[v1alpha1.LabelDarkroom] != c.key.Name {
		return fmt.Errorf("render release %s: the values lack the name or the label of the Darkroom", c.key)
	}
	last, sum := &c.memory.lastRendering, manifest.Digest(values)
	if last.values == sum {
		c.rendering = &rendering{values: values, manifest: last.manifest}
		return nil
	}
	next, err := c.render(values)
	if err != nil {
		return err
	}
	isFirst := last.values == ""
	*last = digests{sum, next.manifest}
	c.rendering = next
	c.memory.objects.Desire(next.objects)
	if deployed := c.darkroom.Status.DeployedRelease; isFirst && deployed != nil {
		// A restarted operator would otherwise have to apply every object of every release to find out which ones are
		// up to date.
		c.memory.objects.Recall(deployed.Digest, next.objects, c.lookUp)
	}
	return nil
}

// render renders the release with the given values.
func (c *ActionClient) render(values map[string]any) (*rendering, error) {
	rendered, err := c.Renderer.Render(c.key, values)
	if err != nil {
		return nil, err
	}
	objects, err := manifest.Parse(rendered.Manifest, c.key.Namespace)
	if err != nil {
		return nil, fmt.Errorf("release %s: %w", c.key, err)
	}
	return &rendering{values, manifest.Identity(rendered.Manifest), rendered, objects}, nil
}

// withObjects returns the rendering of this reconcile with its objects.
func (c *ActionClient) withObjects() (*rendering, error) {
	switch {
	case c.rendering == nil:
		return nil, fmt.Errorf("release %s: %w", c.key, errNotRendered)
	case c.rendering.release != nil:
		return c.rendering, nil
	}
	return c.render(c.rendering.values)
}
