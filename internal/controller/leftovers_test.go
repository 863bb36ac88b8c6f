package controller_test

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// ConfigMaps and Secrets of the old template are kept while any pod of this template may still start. The end of the
// rollout may be observed by another process or by none: if an operator is killed after the rollout has started and
// restarted after it has ended, its upgrade changes nothing.
func TestOldConfigurationStaysUntilAChangeIsRolledOut(t *testing.T) {
	t.Parallel()
	for _, unseen := range []bool{false, true} {
		t.Run(fmt.Sprintf("the rollout ended while no operator ran: %t", unseen), func(t *testing.T) {
			t.Parallel()
			first, darkroom := startWithPhotos(t, func(d *v1alpha1.Darkroom) { d.Spec.Source = inlineSource("first") })
			namespace := darkroom.Namespace
			becomeReady(t, namespace, "photos")
			before := sets.New(readAtStart(t, namespace)...)

			upgrade(t, darkroom, func(d *v1alpha1.Darkroom) {
				d.Spec.LogLevel = "warn"
				d.Spec.Source = inlineSource("second")
			})
			during := sets.New(readAtStart(t, namespace)...)
			if during.Len() != 4 || !during.IsSuperset(before) {
				t.Fatalf("got %q before the change and %q during the rollout", before, during)
			}
			// A copy that has all labels and annotations but lacks the owner does not belong to the release.
			stranger := mustConfig(t, namespace, "photos").DeepCopy()
			stranger.ObjectMeta = metav1.ObjectMeta{
				Namespace: namespace, Name: "photos-stranger", Labels: stranger.Labels, Annotations: stranger.Annotations,
			}
			create(t, stranger)

			eventually(t, "rest", quiet(first))
			first.kill()
			if unseen {
				pending(t, namespace, "In progress (Darkroom Operator)")
				becomeReady(t, namespace, "photos")
			}
			startOperator(t, namespace)
			if !unseen {
				becomeReady(t, namespace, "photos")
			}
			eventually(t, "the end of the old configuration", func(context.Context) error {
				if after := readAtStart(t, namespace); len(after) != 3 || before.HasAny(after...) {
					return fmt.Errorf("got %q", after)
				}
				return nil
			})
			mustConfig(t, namespace, "photos")
			mustGet(t, &corev1.ConfigMap{}, namespace, stranger.Name)
		})
	}
}

func inlineSource(secretKey string) v1alpha1.Source {
	return v1alpha1.Source{Type: v1alpha1.S3, Bucket: "b", Region: "r", AccessKey: "AKIAEXAMPLE", SecretKey: secretKey}
}

// readAtStart returns the names of the ConfigMaps and Secrets in a namespace, except for Helm's Secrets.
func readAtStart(t *testing.T, namespace string) []string {
	t.Helper()
	var names []string
	for _, kind := range []string{"ConfigMap", "Secret"} {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind + "List"))
		err := kube.List(t.Context(), list, client.InNamespace(namespace), client.HasLabels{v1alpha1.LabelDarkroom})
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range list.Items {
			if item.Labels["owner"] != "helm" {
				names = append(names, kind+" "+item.Name)
			}
		}
	}
	return names
}
