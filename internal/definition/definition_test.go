package definition

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/manifests"
)

func testDefinition(t *testing.T) *Definition {
	t.Helper()
	out, err := New()
	expect.NoError(t, err)
	return out
}

func subDomains(n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("host-%d", i))
	}
	return out
}

func TestDefinitionHasTheLimitsOfTheCRD(t *testing.T) {
	definition := testDefinition(t)
	for name, c := range map[string]struct {
		change func(*v1alpha1.Darkroom)
		// field is the field of the first problem; empty means that the Darkroom is valid.
		field string
	}{
		"as it is":            {func(*v1alpha1.Darkroom) {}, ""},
		"as many hosts as go": {func(d *v1alpha1.Darkroom) { d.Spec.SubDomains = subDomains(64) }, ""},
		"one host more":       {func(d *v1alpha1.Darkroom) { d.Spec.SubDomains = subDomains(65) }, "spec.subDomains"},
		"no host":             {func(d *v1alpha1.Darkroom) { d.Spec.SubDomains = nil }, "spec.subDomains"},
		"a host twice":        {func(d *v1alpha1.Darkroom) { d.Spec.SubDomains = []string{"a", "a"} }, "spec.subDomains[1]"},
		"a bad host":          {func(d *v1alpha1.Darkroom) { d.Spec.SubDomains = []string{"A"} }, "spec.subDomains[0]"},
		"too many replicas":   {func(d *v1alpha1.Darkroom) { n := int32(1001); d.Spec.Replicas = &n }, "spec.replicas"},
		"no base URL":         {func(d *v1alpha1.Darkroom) { d.Spec.Source.BaseURL = "" }, "spec.source.baseUrl"},
		"long name":           {func(d *v1alpha1.Darkroom) { d.Name = strings.Repeat("a", 54) }, "metadata.name"},
		"bad label":           {func(d *v1alpha1.Darkroom) { d.Labels = map[string]string{"a": "b c"} }, "metadata.labels"},
		"too many variables": {
			func(d *v1alpha1.Darkroom) { d.Spec.ExtraEnv = make([]corev1.EnvVar, 129) },
			"spec.extraEnv",
		},
		"a variable of no use": {func(d *v1alpha1.Darkroom) {
			d.Spec.ExtraEnv = []corev1.EnvVar{{Name: "DEBUG", Value: "1"}}
		}, "spec.extraEnv"},
	} {
		t.Run(name, func(t *testing.T) {
			darkroom := darkrooms.New("cats", "photos").Obj()
			c.change(darkroom)
			err := definition.Check(t.Context(), darkroom)
			if c.field == "" && err != nil {
				t.Fatalf("refused: %v", err)
			}
			if c.field != "" && (!apierrors.IsInvalid(err) || !strings.Contains(err.Error(), c.field)) {
				t.Errorf("the error is %v, want one of %s", err, c.field)
			}
		})
	}
}

func TestTheSampleWithAllFieldsIsValid(t *testing.T) {
	darkroom, err := manifests.ReadDarkroom(filepath.Join("..", "..", "config", "samples", "darkroom-full.yaml"))
	expect.NoError(t, err)
	darkroom.Namespace = "photos"
	if err := testDefinition(t).Check(t.Context(), darkroom); err != nil {
		t.Error(err)
	}
}
