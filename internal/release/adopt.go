package release

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release/manifest"
	"github.com/darkroom-operator/darkroom-operator/internal/release/ownership"
)

// adopts reports whether the Darkroom asks to take over the Helm release of its name.
func (c *actionClient) adopts() bool {
	return c.darkroom.GetDeletionTimestamp() == nil &&
		c.darkroom.GetAnnotations()[v1alpha1.AnnotationAdoptRelease] == c.key.Name
}

// adopt takes over a release of the plain chart: first the objects of its deployed
// revision, then its revisions, so that an interrupted adoption is repeated. After that the
// release is upgraded like any other, and objects that the new revision does not contain
// are surplus.
func (c *actionClient) adopt() error {
	deployed, err := c.Store.Foreign(c.ctx, c.darkroom, c.Chart.Name())
	if err != nil {
		return err
	}
	objects, err := manifest.Parse(deployed.Manifest, c.key.Namespace)
	if err != nil {
		return fmt.Errorf("adopt release %s: %w", c.key, err)
	}
	for _, object := range objects {
		if err := c.adoptObject(object); err != nil {
			return fmt.Errorf("adopt release %s: %w", c.key, err)
		}
	}
	if err := c.Store.Adopt(c.ctx, c.darkroom); err != nil {
		return err
	}
	c.Recorder.Event(c.darkroom, false, EventAdopted, fmt.Sprintf("Adopted Helm release %s at revision %d", c.key.Name, deployed.Version))
	return nil
}

// adoptObject takes over an object that belongs to the adopted release and has no
// controller.
func (c *actionClient) adoptObject(object *unstructured.Unstructured) error {
	live := &metav1.PartialObjectMetadata{}
	live.SetGroupVersionKind(object.GroupVersionKind())
	if err := c.Reader.Get(c.ctx, client.ObjectKeyFromObject(object), live); err != nil {
		if isGone(err) {
			return nil
		}
		return fmt.Errorf("look for %s: %w", manifest.KeyOf(object), err)
	}
	annotations := live.GetAnnotations()
	switch {
	case ownership.Owns(c.darkroom, live):
		return nil
	case annotations[ownership.AnnotationReleaseName] != c.key.Name || annotations[ownership.AnnotationReleaseNamespace] != c.key.Namespace,
		metav1.GetControllerOfNoCopy(live) != nil:
		return fmt.Errorf("%s %w: %s", manifest.KeyOf(object), ErrForeignObject, ownership.Owner(live))
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid":             live.UID,
		"resourceVersion": live.ResourceVersion,
		"labels":          map[string]string{v1alpha1.LabelDarkroom: c.darkroom.GetName()},
		"ownerReferences": append(live.OwnerReferences, ownership.Reference(c.darkroom)),
	}})
	if err != nil {
		return fmt.Errorf("encode patch of %s: %w", manifest.KeyOf(object), err)
	}
	if err := c.Client.Patch(c.ctx, live, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("mark %s: %w", manifest.KeyOf(object), err)
	}
	return nil
}
