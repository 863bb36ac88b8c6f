package controller_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	helmrelease "helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
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

	change(t, darkroom, func(d *v1alpha1.Darkroom) {
		d.Spec.LogLevel = "warn"
		d.Spec.Source = inlineSource("second")
	})
	eventually(t, "the upgrade", installed(namespace, "photos"))
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
	change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.LogLevel = "warn" })
	eventually(t, "the upgrade", installed(namespace, "photos"))
	eventually(t, "rest", quiet(first))
	first.kill()

	releases := driver.NewSecrets(kubernetes.NewForConfigOrDie(cluster).CoreV1().Secrets(namespace))
	name := mustRevision(t, namespace, "photos").Name
	interrupted, err := releases.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	interrupted.SetStatus(helmrelease.StatusPendingUpgrade, "Under way by the Darkroom Operator")
	if err := releases.Update(name, interrupted); err != nil {
		t.Fatal(err)
	}
	becomeReady(t, namespace, "photos")

	startOperator(t, namespace)
	eventually(t, "the end of the old configuration", func(context.Context) error {
		after := readAtStart(t, namespace)
		if slices.ContainsFunc(before, func(name string) bool { return slices.Contains(after, name) }) {
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
	configMaps, secrets := &corev1.ConfigMapList{}, &corev1.SecretList{}
	for _, list := range []client.ObjectList{configMaps, secrets} {
		if err := kube.List(t.Context(), list, client.InNamespace(namespace), client.HasLabels{v1alpha1.LabelDarkroom}); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	for i := range configMaps.Items {
		names = append(names, "ConfigMap "+configMaps.Items[i].Name)
	}
	for i := range secrets.Items {
		if secrets.Items[i].Labels["owner"] != "helm" {
			names = append(names, "Secret "+secrets.Items[i].Name)
		}
	}
	return names
}
