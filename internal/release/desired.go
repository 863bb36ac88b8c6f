package release

import (
	"errors"
	"fmt"

	"helm.sh/helm/v3/pkg/chartutil"
	helmrelease "helm.sh/helm/v3/pkg/release"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// Desired is the desired release of a Darkroom: the chart, rendered with the values of one
// translation. Nothing else is ever applied.
type Desired struct {
	values chartutil.Values
	// manifest is the identity of the manifest.
	manifest string
}

// errNoPlan is returned for a write of a release that was not rendered in this reconcile.
var errNoPlan = errors.New("nothing was translated and rendered for the release")

// Render renders the release of a Darkroom. It refuses values that lack the name or the label of
// the Darkroom: the objects of such a release would be those of another one.
func (r *Releases) Render(darkroom client.Object, values chartutil.Values) (*Desired, error) {
	key := client.ObjectKeyFromObject(darkroom)
	labels, _ := values["commonLabels"].(map[string]any)
	if values["fullnameOverride"] != key.Name || labels[v1alpha1.LabelDarkroom] != key.Name {
		return nil, fmt.Errorf("render release %s: the values lack the name or the label of the Darkroom", key)
	}
	manifest, err := r.Renderer.Preview(key, values, &r.of(darkroom).rendering)
	if err != nil {
		return nil, err
	}
	return &Desired{values: values, manifest: manifest}, nil
}

// preview returns the summary of the desired release.
func (c *actionClient) preview() (*helmrelease.Release, error) {
	if c.desired == nil {
		return nil, fmt.Errorf("release %s: %w", c.key, errNoPlan)
	}
	return &helmrelease.Release{
		Name: c.key.Name, Namespace: c.key.Namespace, Manifest: c.desired.manifest, Info: &helmrelease.Info{},
	}, nil
}

// rendered returns the desired release.
func (c *actionClient) rendered() (*helmrelease.Release, error) {
	if c.desired == nil {
		return nil, fmt.Errorf("release %s: %w", c.key, errNoPlan)
	}
	return c.Renderer.Render(c.key, c.desired.values, &c.memory.rendering)
}
