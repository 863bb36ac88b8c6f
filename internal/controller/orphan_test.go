package controller_test

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/release"
)

// TestADeletionThatKeepsDependentsEnds deletes a Darkroom with --cascade=orphan. No garbage collector runs here, so the
// test sends its patches. test/e2e covers the real one.
func TestADeletionThatKeepsDependentsEnds(t *testing.T) {
	t.Parallel()
	for name, encoded := range map[string]string{
		"with the records of this version": "",
		"with a record of version 0.1":     `{"spec":{"subDomains":["photos"],"source":{"type":"WebFolder"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, darkroom := startWithPhotos(t)
			namespace := darkroom.Namespace
			record := mustGet(t, &appsv1.ControllerRevision{}, namespace, v1alpha1.RevisionName(darkroom, 1))
			if encoded != "" {
				remove(t, record.DeepCopy())
				record.ResourceVersion, record.Data = "", runtime.RawExtension{Raw: []byte(encoded)}
				create(t, record)
			}
			disown := func(object client.Object) error {
				return kube.Patch(t.Context(), object, client.RawPatch(types.StrategicMergePatchType, fmt.Appendf(nil,
					`{"metadata":{"uid":%q,"ownerReferences":[{"$patch":"delete","uid":%q}]}}`, object.GetUID(), darkroom.UID)))
			}
			if err := disown(record.DeepCopy()); (err == nil) != (encoded == "") {
				t.Errorf("the garbage collector's patch of the record failed: %v", err)
			}

			remove(t, darkroom, client.PropagationPolicy(metav1.DeletePropagationOrphan))
			eventuallyEvent(t, namespace, release.EventOrphaned)
			eventuallyIs(t, "the operator has let it go", &v1alpha1.Darkroom{}, namespace, "photos",
				func(d *v1alpha1.Darkroom) bool {
					return len(d.Finalizers) == 1
				})
			mustGet(t, &appsv1.Deployment{}, namespace, "photos")
			mustGet(t, &corev1.Service{}, namespace, "photos")
			eventually(t, "the release is deployed", deployedByHelm(t, namespace))
			left, err := belongings(t.Context(), darkroom)
			if err != nil {
				t.Fatal(err)
			}
			for i := range left {
				if metav1.IsControlledBy(&left[i], darkroom) {
					if err := disown(&left[i]); err != nil {
						t.Errorf("the garbage collector's patch of %s failed: %v", nameOf(left[i]), err)
					}
				}
			}
		})
	}
}
