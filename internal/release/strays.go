package release

import (
	"fmt"
	"slices"
	"strings"

	helmrelease "helm.sh/helm/v3/pkg/release"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
	"github.com/darkroom-operator/darkroom-operator/internal/release/ownership"
)

// warnOfStrays records an event that lists the strays: objects of the last revision that are not desired and have no
// owner, because a user created them by helm upgrade. A revision of the operator has none, and costs no request.
func (c *ActionClient) warnOfStrays(last *helmrelease.Release, desired []*unstructured.Unstructured) error {
	before, err := manifest.Parse(last.Manifest, c.key.Namespace)
	if err != nil {
		return nil //nolint:nilerr // somebody stored it; nothing of it is applied
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
		c.Recorder.Event(c.darkroom, true, EventStrayObjects, fmt.Sprintf("Another Helm client made revision %d, whose objects "+
			"still run and belong to nobody; delete them: %s", last.Version, strings.Join(strays, ", ")))
	}
	return nil
}
