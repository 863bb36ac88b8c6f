package release

import (
	"context"
	"errors"
	"slices"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"pgregory.net/rapid"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release/ownership"
)

// listed answers lists of metadata as the API server does.
type listed struct {
	client.Reader

	objects map[string][]metav1.PartialObjectMetadata // by kind
}

func (l listed) List(_ context.Context, list client.ObjectList, opts ...client.ListOption) error {
	selector := (&client.ListOptions{}).ApplyOptions(opts).LabelSelector
	found := list.(*metav1.PartialObjectMetadataList)
	for _, object := range l.objects[found.Kind] {
		if selector.Matches(labels.Set(object.Labels)) {
			found.Items = append(found.Items, object)
		}
	}
	return nil
}

// TestOnlyObjectsOfTheReleaseAreAdopted has objects that are those of the chart and the release, or differ in
// one point.
func TestOnlyObjectsOfTheReleaseAreAdopted(t *testing.T) {
	ours := &chart.Chart{Metadata: &chart.Metadata{Name: "darkroom"}}
	kinds := []schema.GroupVersionKind{deployments, services, ingressKind}
	rapid.Check(t, func(t *rapid.T) {
		reader := listed{objects: map[string][]metav1.PartialObjectMetadata{}}
		var want []string
		serves, foreign := false, false
		for _, kind := range kinds {
			for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b"}), 0, 2,
				rapid.ID[string]).Draw(t, kind.Kind) {
				object := metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
					Name: name,
					Labels: map[string]string{
						ownership.LabelManagedBy: ownership.ManagedByHelm,
						"helm.sh/chart":          "darkroom-0.4.0",
					},
					Annotations: map[string]string{
						ownership.AnnotationReleaseName:      "photos",
						ownership.AnnotationReleaseNamespace: "shop",
					},
				}}
				owner := rapid.SampledFrom([]string{"none", "the Darkroom", "another"}).Draw(t, "owner")
				switch owner {
				case "the Darkroom":
					object.Labels[v1alpha1.LabelDarkroom] = "photos"
					object.OwnerReferences = []metav1.OwnerReference{ownership.Reference(photos())}
				case "another":
					object.OwnerReferences = []metav1.OwnerReference{
						ownership.Reference(&v1alpha1.Darkroom{ObjectMeta: metav1.ObjectMeta{Name: "other", UID: "uid-2"}}),
					}
				}
				ofRelease := true
				if other := rapid.SampledFrom([]func(){
					nil,
					func() { object.Labels[ownership.LabelManagedBy] = "kubectl" },
					func() { object.Labels["helm.sh/chart"] = "darkroom2-0.4.0" },
					func() { object.Annotations[ownership.AnnotationReleaseName] = "other" },
					func() { object.Annotations[ownership.AnnotationReleaseNamespace] = "other" },
				}).Draw(t, "what differs"); other != nil {
					other()
					ofRelease = false
				}
				reader.objects[kind.Kind+"List"] = append(reader.objects[kind.Kind+"List"], object)
				isListed := object.Labels[ownership.LabelManagedBy] == ownership.ManagedByHelm
				switch {
				case owner == "the Darkroom" && isListed:
					serves = serves || kind == deployments // by an earlier attempt
				case !ofRelease:
				case owner == "another":
					foreign = true
				case owner == "none":
					serves = serves || kind == deployments
					want = append(want, kind.Kind+" "+name)
				}
			}
		}
		c := clientWith(nil)
		c.Reader, c.Kinds, c.Chart = reader, kinds, ours
		found, err := c.adoptable()
		var got []string
		for i := range found {
			got = append(got, found[i].Kind+" "+found[i].Name)
		}
		switch {
		case foreign:
			if !errors.Is(err, ErrForeignObject) {
				t.Errorf("beside an object of another: %v", err)
			}
		case !serves:
			if !errors.Is(err, errNothingToAdopt) {
				t.Errorf("without a Deployment: %v", err)
			}
		case err != nil || !slices.Equal(got, want):
			t.Errorf("adoptable are %v (%v), want %v", got, err, want)
		}
	})
}
