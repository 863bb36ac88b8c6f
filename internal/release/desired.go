package release

import (
	"errors"
	"fmt"

	helmrelease "helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
)

// desired is the desired release of a Darkroom: the chart, rendered with the values of one
// translation. Nothing else is ever applied.
type desired struct {
	values map[string]any
	// manifest is the identity of the manifest.
	manifest string
	// release is nil if these values were rendered before. Then it is rendered again if needed.
	release *helmrelease.Release
}

// rendering is the last rendering of a release: the digest of its values, and the identity of
// its manifest. The manifest is most of a release's memory, and is needed only to write.
type rendering struct{ values, manifest string }

// errNotRendered is returned for a write of a release that was not rendered in this reconcile.
var errNotRendered = errors.New("nothing was translated and rendered for the release")

// Render renders the desired release of the Darkroom, unless its values are those of the last
// time. It refuses values that lack the name or the label of the Darkroom: the objects of such a
// release would be those of another one.
func (c *ActionClient) Render(values map[string]any) error {
	labels, _ := values["commonLabels"].(map[string]any)
	if values["fullnameOverride"] != c.key.Name || labels[v1alpha1.LabelDarkroom] != c.key.Name {
		return fmt.Errorf("render release %s: the values lack the name or the label of the Darkroom", c.key)
	}
	last, sum := &c.memory.rendering, manifest.Digest(values)
	if last.values == sum {
		c.desired = &desired{values: values, manifest: last.manifest}
		return nil
	}
	rendered, err := c.Renderer.Render(c.key, values)
	if err != nil {
		return err
	}
	*last = rendering{sum, manifest.Identity(rendered.Manifest)}
	c.desired = &desired{values, last.manifest, rendered}
	return nil
}

// objects returns the objects of the desired release.
func (c *ActionClient) objects() ([]*unstructured.Unstructured, error) {
	rendered, err := c.rendered()
	if err != nil {
		return nil, err
	}
	objects, err := manifest.Parse(rendered.Manifest, c.key.Namespace)
	if err != nil {
		return nil, fmt.Errorf("release %s: %w", c.key, err)
	}
	return objects, nil
}

// rendered returns the desired release.
func (c *ActionClient) rendered() (*helmrelease.Release, error) {
	switch {
	case c.desired == nil:
		return nil, fmt.Errorf("release %s: %w", c.key, errNotRendered)
	case c.desired.release != nil:
		return c.desired.release, nil
	}
	return c.Renderer.Render(c.key, c.desired.values)
}
