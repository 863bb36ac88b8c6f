package values

import (
	"strings"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

func TestFilesAreWhatPodsMount(t *testing.T) {
	spec := photos().Obj().Spec
	if files := Files(&spec); len(files) > 0 {
		t.Errorf("the files of a Darkroom without any are %+v", files)
	}
	spec.Source.CABundleRef = &v1alpha1.CABundleRef{Name: "authorities"}
	spec.Gate = &v1alpha1.Gate{Signing: &v1alpha1.GateSigning{
		SecretRef: v1alpha1.SigningSecretRef{Name: "signing", Key: "current"},
	}}
	want := []File{
		{"ConfigMap", "authorities", "ca.crt", "source.caBundleRef"},
		{"Secret", "signing", "current", "gate.signing.secretRef"},
	}
	for i, file := range Files(&spec) {
		if file.Field = strings.TrimPrefix(file.Field, "spec."); i >= len(want) || file != want[i] {
			t.Errorf("file %d is %+v", i, file)
		}
	}
	if files := Files(&spec); len(files) != len(want) {
		t.Errorf("%d files", len(files))
	}
}
