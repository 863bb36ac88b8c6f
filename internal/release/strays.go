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

// warnOfStrays records an event that lists strays: objects of the last revision that are not desired and have no owner,
// because a user created them with `helm upgrade`. (surplus.go deletes owned objects.) Revisions of the operator have
// no strays and cause no request.
func (c *ActionClient) warnOfStrays(last *helmrelease.Release, desired []*unstructured.Unstructured) error {
	before, err := manifest.Parse(last.Manifest, c.key.Namespace)
	if err != nil {
		return nil //nolint:nilerr // another client wrote the manifest, and it is never applied
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
		c.Recorder.Event(c.darkroom, true, EventStrayObjects, fmt.Sprintf("Another Helm client created revision %d. These of "+
			"its objects still exist but have no owner; delete them: %s", last.Version, strings.Join(strays, ", ")))
	}
	return nil
}
