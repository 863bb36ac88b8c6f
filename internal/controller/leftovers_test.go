package controller_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// ConfigMaps and Secrets of the old template stay until no pod of it can start any more,
// even if another operator process sees the end of the rollout.
func TestOldConfigurationStaysUntilAChangeIsRolledOut(t *testing.T) {
	t.Parallel()
	first, darkroom := startWithPhotos(t, func(d *v1alpha1.Darkroom) { d.Spec.Source = inlineSource("first") })
	namespace := darkroom.Namespace
	becomeReady(t, namespace, "photos")
	before := readAtStart(t, namespace)

	upgrade(t, darkroom, func(d *v1alpha1.Darkroom) {
		d.Spec.LogLevel = "warn"
		d.Spec.Source = inlineSource("second")
	})
	during := readAtStart(t, namespace)
	if len(during) != 4 || slices.ContainsFunc(before, func(name string) bool { return !slices.Contains(during, name) }) {
		t.Fatalf("before the change there were %q, during the roll-out there are %q", before, during)
	}
	// A copy with all marks but the owner does not belong to the release.
	stranger := mustConfig(t, namespace, "photos").DeepCopy()
	stranger.ObjectMeta = metav1.ObjectMeta{
		Namespace: namespace, Name: "photos-stranger", Labels: stranger.Labels, Annotations: stranger.Annotations,
	}
	create(t, stranger)

	first.kill()
	startOperator(t, namespace)
	becomeReady(t, namespace, "photos")
	eventually(t, "the end of the old configuration", func(context.Context) error {
		after := readAtStart(t, namespace)
		if len(after) != 3 || slices.ContainsFunc(before, func(name string) bool { return slices.Contains(after, name) }) {
			return fmt.Errorf("there are %q", after)
		}
		return nil
	})
	mustConfig(t, namespace, "photos")
	mustGet(t, &corev1.ConfigMap{}, namespace, stranger.Name)
}

// An operator that was killed after the pods were told to change, and started again when
// they had, sees no end of a roll-out: its upgrade changes nothing any more.
func TestOldConfigurationGoesIfTheRolloutEndedWhileNoOperatorRan(t *testing.T) {
	t.Parallel()
	first, darkroom := startWithPhotos(t)
	namespace := darkroom.Namespace
	becomeReady(t, namespace, "photos")
	before := readAtStart(t, namespace)
	upgrade(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.LogLevel = "warn" })
	eventually(t, "rest", quiet(first))
	first.kill()

	pending(t, namespace, "Under way by the Darkroom Operator")
	becomeReady(t, namespace, "photos")

	startOperator(t, namespace)
	eventually(t, "the end of the old configuration", func(context.Context) error {
		if after := readAtStart(t, namespace); slices.ContainsFunc(before, func(name string) bool { return slices.Contains(after, name) }) {
			return fmt.Errorf("there are %q", after)
		}
		return nil
	})
	mustConfig(t, namespace, "photos")
}

func inlineSource(secretKey string) v1alpha1.Source {
	return v1alpha1.Source{Type: v1alpha1.S3, Bucket: "b", Region: "r", AccessKey: "AKIAEXAMPLE", SecretKey: secretKey}
}

// readAtStart names the ConfigMaps and Secrets of Darkrooms in a namespace, but for
// Helm's.
func readAtStart(t *testing.T, namespace string) []string {
	t.Helper()
	var names []string
	for _, kind := range []string{"ConfigMap", "Secret"} {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind(kind + "List"))
		if err := kube.List(t.Context(), list, client.InNamespace(namespace), client.HasLabels{v1alpha1.LabelDarkroom}); err != nil {
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
