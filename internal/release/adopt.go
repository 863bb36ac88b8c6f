package release

import (
	"errors"
	"fmt"
	"strings"

	helmrelease "helm.sh/helm/v3/pkg/release"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release/ownership"
)

// A Darkroom adopts a release of the plain chart as a part of its install, after its own release
// was translated and rendered. Which objects are adopted is decided by the live objects alone:
// stored manifests may be written by anybody who may write Secrets. Helm's revisions come last,
// so that until everything is applied, the release is still Helm's.

// adopts reports whether the Darkroom asks to adopt the Helm release of its name.
func (c *ActionClient) adopts() bool {
	return c.desired != nil && c.darkroom.GetAnnotations()[v1alpha1.AnnotationAdoptRelease] == c.key.Name
}

// adopt deploys the next revision of a release that does not belong to the Darkroom yet, and
// takes over its objects and revisions, which are the newest first. Objects that the new revision does not
// contain are surplus.
func (c *ActionClient) adopt(desired *desired, adopted []*helmrelease.Release) (*helmrelease.Release, error) {
	live, err := c.adoptable()
	if err != nil {
		return nil, fmt.Errorf("adopt release %s: %w", c.key, err)
	}
	// Newer revisions of the Darkroom's own are left from an attempt that did not succeed.
	if _, err := c.revisions.Delete(c.ctx, adopted[0].Version); err != nil {
		return nil, fmt.Errorf("adopt release %s: %w", c.key, err)
	}
	next := desired.release
	next.Version = adopted[0].Version + 1
	next.Info.FirstDeployed = adopted[0].Info.FirstDeployed
	next.Info.LastDeployed.Time = c.Clock.Now()
	if err := c.begin(next); err != nil {
		return nil, err
	}
	for i := range live {
		object := &live[i]
		if err := c.setOwner(object, c.darkroom.Name,
			append(object.OwnerReferences, ownership.Reference(c.darkroom))); err != nil {
			return next, c.fail(next, nil, err)
		}
	}
	if err := c.apply(desired.objects); err != nil {
		return next, c.fail(next, nil, err)
	}
	if err := c.revisions.Adopt(c.ctx); err != nil {
		return next, c.fail(next, nil, err)
	}
	c.Recorder.Event(c.darkroom, false, EventAdopted,
		fmt.Sprintf("Adopted Helm release %s at revision %d", c.key.Name, adopted[0].Version))
	return next, c.succeed(next, nil, adopted)
}

// errNothingToAdopt is returned if a release has no Deployment of the chart.
var errNothingToAdopt = errors.New("the namespace has no Deployment of this release and chart that could be adopted: " +
	"uninstall the release, or remove the annotation " + v1alpha1.AnnotationAdoptRelease)

// adoptable lists the live objects that Helm made of the chart for the release of the Darkroom's
// name, and that have no controller, or the Darkroom.
func (c *ActionClient) adoptable() ([]metav1.PartialObjectMetadata, error) {
	var found []metav1.PartialObjectMetadata
	serves := false
	for _, kind := range c.Kinds {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		err := c.Reader.List(c.ctx, list, client.InNamespace(c.key.Namespace),
			client.MatchingLabels{ownership.LabelManagedBy: ownership.ManagedByHelm})
		if err != nil {
			return nil, fmt.Errorf("list %ss: %w", kind.Kind, err)
		}
		for i := range list.Items {
			object := &list.Items[i]
			object.SetGroupVersionKind(kind)
			if !c.isOfChart(object) || ownership.Owns(c.darkroom, object) {
				serves = serves || kind.GroupKind() == deployments.GroupKind() && ownership.Owns(c.darkroom, object)
				continue
			}
			if metav1.GetControllerOfNoCopy(object) != nil {
				return nil, fmt.Errorf("%s %s: %w: %s", kind.Kind, object.Name, ErrForeignObject, ownership.Owner(object))
			}
			serves = serves || kind.GroupKind() == deployments.GroupKind()
			found = append(found, *object)
		}
	}
	if !serves {
		return nil, errNothingToAdopt
	}
	return found, nil
}

// isOfChart reports whether Helm made an object of the chart for the release of the Darkroom's
// name.
func (c *ActionClient) isOfChart(object metav1.Object) bool {
	annotations := object.GetAnnotations()
	return annotations[ownership.AnnotationReleaseName] == c.key.Name &&
		annotations[ownership.AnnotationReleaseNamespace] == c.key.Namespace &&
		strings.HasPrefix(object.GetLabels()["helm.sh/chart"], c.Chart.Name()+"-")
}

// setOwner sets the label and the owners of an object, unless it has changed since it was read; nil removes the label.
func (c *ActionClient) setOwner(object *metav1.PartialObjectMetadata, label any, owners []metav1.OwnerReference) error {
	patch, err := ownership.Patch(object, map[string]any{v1alpha1.LabelDarkroom: label}, owners)
	if err != nil {
		return fmt.Errorf("encode patch of %s %s: %w", object.Kind, object.Name, err)
	}
	if err := c.Client.Patch(c.ctx, object, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return fmt.Errorf("change the owner of %s %s: %w", object.Kind, object.Name, err)
	}
	return nil
}
