package release

import (
	"errors"
	"fmt"

	helmrelease "helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
)

// Desired is the desired release of a Darkroom: the chart, rendered with the values of one
// translation. Nothing else is ever applied.
type Desired struct {
	values map[string]any
	// manifest is the identity of the manifest.
	manifest string
	// release is nil if these values were rendered before. Then it is rendered again if needed.
	release *helmrelease.Release
}

// rendering is the last rendering of a release: the digest of its values, and the identity of
// its manifest. The manifest is most of a release's memory, and is needed only to write.
type rendering struct{ values, manifest string }

// errNoPlan is returned for a write of a release that was not rendered in this reconcile.
var errNoPlan = errors.New("nothing was translated and rendered for the release")

// Render renders the release of a Darkroom, unless its values are those of the last time. It
// refuses values that lack the name or the label of the Darkroom: the objects of such a release
// would be those of another one.
func (r *Releases) Render(darkroom client.Object, values map[string]any) (*Desired, error) {
	key := client.ObjectKeyFromObject(darkroom)
	labels, _ := values["commonLabels"].(map[string]any)
	if values["fullnameOverride"] != key.Name || labels[v1alpha1.LabelDarkroom] != key.Name {
		return nil, fmt.Errorf("render release %s: the values lack the name or the label of the Darkroom", key)
	}
	known, sum := r.of(darkroom), manifest.Digest(values)
	desired := &Desired{values: values, manifest: known.rendering.manifest}
	if known.rendering.values == sum {
		return desired, nil
	}
	var err error
	if desired.release, err = r.Renderer.Render(key, values); err != nil {
		return nil, err
	}
	desired.manifest = manifest.Identity(desired.release.Manifest)
	known.rendering = rendering{sum, desired.manifest}
	return desired, nil
}

// objects returns the objects of the desired release.
func (c *actionClient) objects() ([]*unstructured.Unstructured, error) {
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
func (c *actionClient) rendered() (*helmrelease.Release, error) {
	switch {
	case c.desired == nil:
		return nil, fmt.Errorf("release %s: %w", c.key, errNoPlan)
	case c.desired.release != nil:
		return c.desired.release, nil
	}
	return c.Renderer.Render(c.key, c.desired.values)
}
