package values

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// A Darkroom at a limit is translated. One more is rejected, and the error names the field that is too large.
func TestLimitsAreExact(t *testing.T) {
	for name, test := range map[string]struct {
		limit int
		of    func(size int) *v1alpha1.Darkroom
		field string
	}{
		"annotations of pods": {
			apivalidation.TotalAnnotationSizeLimitB, withPodAnnotation, "spec.podTemplate.annotations",
		},
		"a host":             {validation.DNS1123SubdomainMaxLength, withHost, "spec.subDomains[0]"},
		"values of the spec": {maxValues, withValues, "spec"},
		"bytes of the spec":  {maxSpec, withBytes, "spec"},
	} {
		t.Run(name, func(t *testing.T) {
			valuesOf(t, test.of(test.limit), Options{})
			refused := refusalOf(t, test.of(test.limit+1))
			if len(refused.Fields) != 1 || refused.Fields[0].Field != test.field {
				t.Errorf("one more than %d: refused by %v, want only %s", test.limit, refused.Fields, test.field)
			}
		})
	}
}

// withPodAnnotation returns a Darkroom whose pods have an annotation of this size, including its key.
func withPodAnnotation(size int) *v1alpha1.Darkroom {
	const key = "note"
	return photos().PodTemplate(v1alpha1.PodTemplate{
		Annotations: map[string]string{key: strings.Repeat("x", size-len(key))},
	}).Obj()
}

// withHost returns a Darkroom whose host has this length.
func withHost(length int) *v1alpha1.Darkroom {
	labels := strings.Repeat(strings.Repeat("x", 62)+".", 5)
	return photos().SubDomains(labels[:length-len("."+DefaultBaseDomain)]).Obj()
}

// withValues returns a Darkroom whose spec has this number of values.
func withValues(number int) *v1alpha1.Darkroom {
	d := photos().Env("A", "").Obj()
	// A variable counts as an object with a name; its value is the third.
	missing := number - countValues(encoded(d.Spec))
	d.Spec.ExtraEnv = append(d.Spec.ExtraEnv, slices.Repeat([]corev1.EnvVar{{Name: "A"}}, missing/2)...)
	if missing%2 == 1 {
		d.Spec.ExtraEnv[0].Value = "x"
	}
	return d
}

// withBytes returns a Darkroom whose spec has this size as JSON.
func withBytes(size int) *v1alpha1.Darkroom {
	d := photos().Env("A", "x").Obj()
	d.Spec.ExtraEnv[0].Value += strings.Repeat("x", size-len(encoded(d.Spec)))
	return d
}

func encoded(spec v1alpha1.DarkroomSpec) []byte {
	raw, _ := json.Marshal(spec) // cannot fail
	return raw
}

// The API server would store 1.5 MiB of tolerations.
func TestALargeSpecIsRefused(t *testing.T) {
	tolerating := func(n int) *v1alpha1.Darkroom {
		return photos().PodTemplate(v1alpha1.PodTemplate{Tolerations: slices.Repeat([]corev1.Toleration{{Key: "a"}}, n)}).
			Obj()
	}
	valuesOf(t, tolerating(1000), Options{})
	large := photos().Env("NOTE", strings.Repeat("x", maxSpec)).Obj()
	for _, darkroom := range []*v1alpha1.Darkroom{tolerating(10_000), tolerating(80_000), large} {
		refused := refusalOf(t, darkroom)
		if len(refused.Fields) != 1 || refused.Fields[0].Field != "spec" ||
			!strings.Contains(refused.Error(), "is too large") || len(refused.Error()) > 200 {
			t.Errorf("refused by %v", refused)
		}
	}
}

// An empty list or object counts as two values.
func TestCommasAndBracketsInStringsAreNotCounted(t *testing.T) {
	for text, want := range map[string]int{`{}`: 2, `"a,{[\"\\\","`: 1, `{"a":[1,2],"b":"x, y"}`: 5} {
		if got := countValues([]byte(text)); got != want {
			t.Errorf("%s has %d values, want %d", text, got, want)
		}
	}
}
