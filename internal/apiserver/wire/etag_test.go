package wire

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

// A restore of etcd resets the generation, and the next change of the spec gets a generation that was used before.
func TestATagOfBeforeARestoreDoesNotMatchAnotherSpec(t *testing.T) {
	before, after := darkrooms.New("photos", "alice").Obj(), darkrooms.New("photos", "alice").Obj()
	before.Generation, after.Generation = 5, 5
	if err := CheckIfMatch(ETag(before), after); err != nil {
		t.Errorf("equal Darkrooms: %v", err)
	}
	after.Spec.Source.BaseURL = "https://other.example.com"
	if err := CheckIfMatch(ETag(before), after); err == nil {
		t.Error("a tag matches another spec of the same generation")
	}
	after = before.DeepCopy()
	after.ResourceVersion, after.Status.Phase = "77", "Ready"
	if err := CheckIfMatch(ETag(before), after); err != nil {
		t.Errorf("a write of the status invalidates the tag: %v", err)
	}
}

// The server compares the resource, which contains keys, with the cached one, which does not.
func TestATagDoesNotDependOnWhatTheCacheConceals(t *testing.T) {
	stored := darkrooms.New("photos", "alice").Obj()
	stored.Spec.Source = v1alpha1.Source{Type: v1alpha1.S3, Bucket: "photos", AccessKey: "access", SecretKey: "secret"}
	stored.Spec.ExtraEnv = []corev1.EnvVar{{Name: "TOKEN", Value: "secret"}}
	cached := stored.DeepCopy()
	Conceal(cached)
	if ETag(cached) != ETag(stored) {
		t.Errorf("%s is not %s", ETag(cached), ETag(stored))
	}
}
