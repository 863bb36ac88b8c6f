package caches

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/internal/release/storage"
)

func TestOnlyNameAndVersionOfASecretAreKept(t *testing.T) {
	full := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team-a", Name: "keys", UID: "u", ResourceVersion: "7",
		Labels:        map[string]string{"app": "x"},
		Annotations:   map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "the data"},
		Finalizers:    []string{"f"},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "kubectl"}},
	}}
	narrow, err := nameAndVersion(full)
	if err != nil {
		t.Fatal(err)
	}
	kept, ok := narrow.(*metav1.PartialObjectMetadata)
	if !ok || kept.Namespace != "team-a" || kept.Name != "keys" || kept.UID != "u" || kept.ResourceVersion != "7" {
		t.Fatalf("kept is %+v", narrow)
	}
	if kept.Labels != nil || kept.Annotations != nil || kept.Finalizers != nil || kept.ManagedFields != nil {
		t.Errorf("more is kept than name and version: %+v", kept)
	}
}

func TestTheReleaseNameOfARevisionIsKept(t *testing.T) {
	full := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team-a", Name: "sh.helm.release.v1.photos.v1",
		Labels: map[string]string{"owner": "helm", "name": "photos", "version": "1", "status": "deployed", "modifiedAt": "1"},
	}}
	narrow, err := nameAndVersion(full)
	if err != nil {
		t.Fatal(err)
	}
	if got := storage.IndexFunc(narrow.(client.Object)); !slices.Equal(got, []string{"photos"}) {
		t.Errorf("indexed by %v", got)
	}
}
