package values

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
)

func photos() *darkrooms.Builder {
	return darkrooms.New("photos", "team-a")
}

// valuesOf translates a Darkroom that is valid.
func valuesOf(t *testing.T, darkroom *v1alpha1.Darkroom, options Options) map[string]any {
	t.Helper()
	translator, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	values, err := translator.Values(darkroom)
	if err != nil {
		t.Fatalf("refused: %v", err)
	}
	return values
}

// refusalOf translates a Darkroom that is not valid.
func refusalOf(t *testing.T, darkroom *v1alpha1.Darkroom) *InvalidError {
	t.Helper()
	translator, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	values, err := translator.Values(darkroom)
	var invalid *InvalidError
	if !errors.As(err, &invalid) {
		t.Fatalf("want an *InvalidError, got %v and the values %v", err, values)
	}
	if values != nil {
		t.Errorf("values beside an error: %v", values)
	}
	return invalid
}

// at returns the value at a path of keys, nil where there is none.
func at(values map[string]any, path ...string) any {
	var value any = values
	for _, key := range path {
		table, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = table[key]
	}
	return value
}

// refusals are Darkrooms with the fields that are named as wrong, and a word of
// the advice for each.
type refusals map[string]struct {
	darkroom *darkrooms.Builder
	want     map[string]string
}

func (r refusals) check(t *testing.T) {
	t.Helper()
	for name, test := range r {
		t.Run(name, func(t *testing.T) { expectNamed(t, test.darkroom, test.want) })
	}
}

// expectNamed wants exactly these fields named as wrong.
func expectNamed(t *testing.T, darkroom *darkrooms.Builder, want map[string]string) {
	t.Helper()
	got := map[string]string{}
	for _, fieldErr := range refusalOf(t, darkroom.Obj()).Fields {
		got[fieldErr.Field] = fieldErr.ErrorBody()
	}
	for field, advice := range want {
		body, named := got[field]
		switch {
		case !named:
			t.Errorf("%s is not named", field)
		case !strings.Contains(body, advice):
			t.Errorf("%s: want %q in: %s", field, advice, body)
		}
		delete(got, field)
	}
	for field, body := range got {
		t.Errorf("%s is named, but is not wrong: %s", field, body)
	}
}

func TestOnlyWhatDiffersFromTheChartIsWritten(t *testing.T) {
	got := valuesOf(t, photos().Obj(), Options{})
	want := map[string]any{
		"fullnameOverride": "photos",
		"commonLabels":     map[string]any{v1alpha1.LabelDarkroom: "photos"},
		"source":           map[string]any{"type": "WebFolder", "baseUrl": darkrooms.DefaultBaseURL},
		"hosts":            []any{"photos." + DefaultBaseDomain},
		"replicaCount":     int64(1),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// wrongEverywhere has several wrong fields.
func wrongEverywhere() *v1alpha1.Darkroom {
	return photos().
		PullSecrets("").
		Request(corev1.ResourceCPU, "2").Limit(corev1.ResourceCPU, "1").
		Request(corev1.ResourceMemory, "2Gi").Limit(corev1.ResourceMemory, "1Gi").
		DefaultParam("w;h", "1").
		DefaultParam("a b", "1").
		Env("A B", "true").
		Ingress(v1alpha1.Ingress{ClassName: "A Class"}).Obj()
}

func TestEveryWrongFieldIsNamedAtOnce(t *testing.T) {
	var got []string
	for _, fieldErr := range refusalOf(t, wrongEverywhere()).Fields {
		got = append(got, fieldErr.Field)
	}
	slices.Sort(got)
	want := []string{
		"spec.defaultParams[a b]",
		"spec.defaultParams[w;h]",
		"spec.extraEnv[0].name",
		"spec.image.pullSecrets[0].name",
		"spec.ingress.className",
		"spec.resources.requests[cpu]",
		"spec.resources.requests[memory]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The message becomes that of a condition: one that differs each time is written
// each time.
func TestTheSameDarkroomIsRefusedInTheSameWords(t *testing.T) {
	darkroom := wrongEverywhere()
	first := refusalOf(t, darkroom).Error()
	for range 50 {
		if again := refusalOf(t, darkroom).Error(); again != first {
			t.Fatalf("(-first +again):\n%s", cmp.Diff(first, again))
		}
	}
}

func TestTranslationIsPure(t *testing.T) {
	for name, darkroom := range everything() {
		t.Run(name, func(t *testing.T) {
			before := darkroom.DeepCopy()
			first := valuesOf(t, darkroom, Options{})
			if diff := cmp.Diff(before, darkroom); diff != "" {
				t.Errorf("the Darkroom, which is that of a cache, was changed (-before +after):\n%s", diff)
			}
			if diff := cmp.Diff(first, valuesOf(t, darkroom, Options{})); diff != "" {
				t.Errorf("every resync would be an upgrade (-first +second):\n%s", diff)
			}
		})
	}
}
