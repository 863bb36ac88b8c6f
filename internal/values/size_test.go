package values

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// What is as large as it may be is not refused, and what exceeds that by one is.
func TestBoundsAreExact(t *testing.T) {
	note := func(size int) *v1alpha1.Darkroom {
		d := photos().Obj()
		d.Spec.PodTemplate = &v1alpha1.PodTemplate{
			Annotations: map[string]string{"note": strings.Repeat("x", size-len("note"))},
		}
		return d
	}
	host := func(size int) *v1alpha1.Darkroom {
		d := photos().Obj()
		label := strings.Repeat("x", 62) + "."
		d.Spec.SubDomains = []string{(label + label + label + label)[:size-len("."+DefaultBaseDomain)]}
		return d
	}
	encoded := func(spec v1alpha1.DarkroomSpec) []byte {
		raw, err := json.Marshal(spec)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	// A variable adds two values, and a sub-domain one.
	variables := func(number int) *v1alpha1.Darkroom {
		d := photos().Obj()
		for countValues(encoded(d.Spec)) < number-2 {
			d.Spec.ExtraEnv = append(d.Spec.ExtraEnv, corev1.EnvVar{Name: "A"})
		}
		for countValues(encoded(d.Spec)) < number {
			d.Spec.SubDomains = append(d.Spec.SubDomains, "x"+strings.Repeat("x", len(d.Spec.SubDomains)))
		}
		return d
	}
	bytes := func(size int) *v1alpha1.Darkroom {
		d := photos().Obj()
		d.Spec.ExtraEnv = []corev1.EnvVar{{Name: "A", Value: "x"}}
		d.Spec.ExtraEnv[0].Value = strings.Repeat("x", size-len(encoded(d.Spec))+1)
		return d
	}
	for name, test := range map[string]struct {
		most int
		of   func(int) *v1alpha1.Darkroom
	}{
		"annotations": {apivalidation.TotalAnnotationSizeLimitB, note},
		"a host":      {validation.DNS1123SubdomainMaxLength, host},
		"values":      {maxValues, variables},
		"bytes":       {maxSpec, bytes},
	} {
		for size, refused := range map[int]bool{test.most: false, test.most + 1: true} {
			b := &builder{values: map[string]any{}}
			d := test.of(size)
			b.size(&d.Spec)
			b.podMetadata(&d.Spec, nil, map[string]string{}, "")
			b.hosts(d, Options{BaseDomains: []string{DefaultBaseDomain}}, nil)
			tooLarge := slices.DeleteFunc(b.errs, func(err *field.Error) bool {
				return !strings.Contains(err.Error(), "too l") && !strings.Contains(err.Error(), "may not be more")
			})
			if (len(tooLarge) > 0) != refused {
				t.Errorf("%s of %d: refused: %v, want %t", name, size, b.errs, refused)
			}
		}
	}
}
