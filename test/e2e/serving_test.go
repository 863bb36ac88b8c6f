//go:build e2e

package e2e

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// sample reads a sample as users are given it.
func sample(t *testing.T, name string) *v1alpha1.Darkroom {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(repository, "config", "samples", name))
	if err != nil {
		t.Fatal(err)
	}
	darkroom := &v1alpha1.Darkroom{}
	if err := yaml.UnmarshalStrict(raw, darkroom); err != nil {
		t.Fatal(err)
	}
	return darkroom
}

func TestAWebFolderIsServedThroughServiceAndIngress(t *testing.T) {
	t.Parallel()
	darkroom := sample(t, "darkroom-webfolder.yaml")
	darkroom.Namespace = newNamespace(t)
	darkroom.Spec.Source.BaseURL = theSources.folderURL + "/"
	darkroom.Spec.Probe.Path = imagePath
	create(t, darkroom)
	t.Logf("ready after %.1fs", waitReady(t, darkroom).Seconds())

	if want := []string{"ajatprabha." + baseDomain}; !slices.Equal(darkroom.Status.Domains, want) {
		t.Errorf("status.domains are %q, want %q", darkroom.Status.Domains, want)
	}
	if darkroom.Status.Version != "v0.4.2" {
		t.Errorf("status.version is %q", darkroom.Status.Version)
	}
	body, err := throughService(t.Context(), darkroom, imagePath, map[string]string{"w": "300"})
	if err == nil {
		err = isImage(body, 300)
	}
	if err != nil {
		t.Errorf("through the Service: %v", err)
	}
	waitServing(t, darkroom)
}

func TestMetricsOfPodsAreNotServedThroughTheIngress(t *testing.T) {
	t.Parallel()
	darkroom := newDarkroom(newNamespace(t), "metrics").Spec(func(spec *v1alpha1.DarkroomSpec) {
		spec.Metrics = &v1alpha1.Metrics{Enabled: true}
	}).Obj()
	create(t, darkroom)
	waitReady(t, darkroom)
	waitServing(t, darkroom)

	inside, err := throughService(t.Context(), darkroom, "/metrics", nil)
	if err != nil || !bytes.Contains(inside, []byte("# TYPE")) {
		t.Fatalf("the pod itself has no metrics to hide: %v: %.200q", err, inside)
	}
	status, outside, err := throughIngress(t.Context(), hostOf(darkroom), "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	if status < http.StatusBadRequest || bytes.Contains(outside, []byte("# TYPE")) {
		t.Errorf("/metrics answers %d through the Ingress: %.200q", status, outside)
	}
}

func TestS3IsServedWithInlineKeys(t *testing.T) {
	t.Parallel()
	darkroom := newDarkroom(newNamespace(t), "inline").Source(theSources.s3Inline(accessKey, secretKey)).Obj()
	create(t, darkroom)
	waitReady(t, darkroom)
	waitServing(t, darkroom)
	body, err := throughService(t.Context(), darkroom, imagePath, map[string]string{"w": "300"})
	if err == nil {
		err = isImage(body, 300)
	}
	if err != nil {
		t.Errorf("through the Service: %v", err)
	}

	// The credentials are used: with others the bucket refuses.
	change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.Source.SecretKey = "wrong" })
	waitSettled(t, darkroom)
	waitStatus(t, hostOf(darkroom), http.StatusForbidden)

	change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.Source.SecretKey = secretKey })
	waitReady(t, darkroom)
	waitServing(t, darkroom)
}

func TestS3IsServedWithTheKeysOfASecret(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	for name, secret := range map[string]string{"right": secretKey, "wrong": "wrong"} {
		create(t, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
			StringData: map[string]string{"accessKey": accessKey, "secretKey": secret},
		})
	}
	darkroom := newDarkroom(namespace, "reference").Source(theSources.s3Reference("wrong")).Obj()
	create(t, darkroom)
	waitReady(t, darkroom)
	waitStatus(t, hostOf(darkroom), http.StatusForbidden)

	change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.Source.CredentialsSecretRef.Name = "right" })
	waitReady(t, darkroom)
	waitServing(t, darkroom)
}
