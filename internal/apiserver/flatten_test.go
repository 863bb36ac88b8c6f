package apiserver

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// jsonNames returns the names that the fields of a struct have in JSON, those of
// embedded structs included.
func jsonNames(of reflect.Type) []string {
	var out []string
	for _, field := range reflect.VisibleFields(of) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name != "" && name != "-" {
			out = append(out, name)
		}
	}
	return out
}

func TestEveryFieldOfTheResourceIsReachable(t *testing.T) {
	for name, c := range map[string]struct {
		resource, input, shown reflect.Type
		writeOnly              []string
	}{
		"spec": {
			reflect.TypeFor[v1alpha1.DarkroomSpec](), reflect.TypeFor[DarkroomInput](), reflect.TypeFor[Darkroom](), nil,
		},
		"source": {
			reflect.TypeFor[v1alpha1.Source](), reflect.TypeFor[SourceInput](), reflect.TypeFor[Source](), []string{"accessKey", "secretKey"},
		},
		"extraEnv": {
			reflect.TypeFor[corev1.EnvVar](), reflect.TypeFor[EnvVarInput](), reflect.TypeFor[EnvVar](), []string{"value"},
		},
	} {
		input, shown := jsonNames(c.input), jsonNames(c.shown)
		for _, field := range jsonNames(c.resource) {
			if !slices.Contains(input, field) {
				t.Errorf("%s.%s cannot be written", name, field)
			}
			if secret := slices.Contains(c.writeOnly, field); secret == slices.Contains(shown, field) {
				t.Errorf("%s.%s is shown: %t", name, field, secret)
			}
		}
	}
}

func TestEveryFieldOfTheSpecIsCarriedOver(t *testing.T) {
	// Each field alone is set to something, sent through, and looked for.
	for _, field := range reflect.VisibleFields(reflect.TypeFor[Settings]()) {
		input := &DarkroomInput{}
		value := reflect.ValueOf(input).Elem().FieldByName(field.Name)
		value.Set(something(value.Type()))
		spec := expand(input, &v1alpha1.Darkroom{}).Spec
		if reflect.ValueOf(spec).FieldByName(field.Name).IsZero() {
			t.Errorf("%s is lost on the way in", field.Name)
		}
		if reflect.ValueOf(flatten(&v1alpha1.Darkroom{Spec: spec})).FieldByName(field.Name).IsZero() {
			t.Errorf("%s is lost on the way out", field.Name)
		}
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[SourceFields]()) {
		input := &DarkroomInput{}
		value := reflect.ValueOf(input).Elem().FieldByName("Source").FieldByName(field.Name)
		value.Set(something(value.Type()))
		source := expand(input, &v1alpha1.Darkroom{}).Spec.Source
		if reflect.ValueOf(source).FieldByName(field.Name).IsZero() {
			t.Errorf("source.%s is lost on the way in", field.Name)
		}
		if reflect.ValueOf(flattenSource(&source)).FieldByName(field.Name).IsZero() {
			t.Errorf("source.%s is lost on the way out", field.Name)
		}
	}
}

func TestEveryFieldOfTheStatusIsShown(t *testing.T) {
	shown := jsonNames(reflect.TypeFor[Status]())
	for _, field := range jsonNames(reflect.TypeFor[v1alpha1.DarkroomStatus]()) {
		switch field {
		case "selector": // only for the scale subresource
		case "deployedRelease": // shown as release
		default:
			if !slices.Contains(shown, field) {
				t.Errorf("status.%s is not shown", field)
			}
		}
	}
	status := v1alpha1.DarkroomStatus{
		Phase: "Ready", Message: "m", Domains: []string{"cats.example.com"}, URL: "https://cats.example.com", Version: "v1",
		Address: "http://cats", Replicas: 2, ReadyReplicas: 1, ObservedGeneration: 3,
		DeployedRelease: &v1alpha1.DeployedRelease{Name: "cats"}, Conditions: []v1alpha1.Condition{{Type: "Ready"}},
	}
	got := reflect.ValueOf(flattenStatus(&status))
	for _, field := range reflect.VisibleFields(got.Type()) {
		if got.FieldByName(field.Name).IsZero() {
			t.Errorf("%s is lost on the way out", field.Name)
		}
	}
}

// something returns a value of a type that is not zero.
func something(of reflect.Type) reflect.Value {
	switch of.Kind() {
	case reflect.Pointer:
		return reflect.New(of.Elem())
	case reflect.Slice:
		return reflect.MakeSlice(of, 1, 1)
	case reflect.Map:
		return reflect.MakeMap(of)
	default:
		return reflect.ValueOf("x").Convert(of)
	}
}

func TestConcealLeavesNothing(t *testing.T) {
	darkroom := &v1alpha1.Darkroom{}
	darkroom.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: "secret", "other": "stays"}
	darkroom.Spec.Source.AccessKey, darkroom.Spec.Source.SecretKey = "secret", "secret"
	darkroom.Spec.ExtraEnv = []corev1.EnvVar{{Name: "A", Value: "secret"}, {Name: "EMPTY"}}
	before := darkroom.DeepCopy()
	conceal(darkroom)
	if s := darkroom.Spec; s.Source.AccessKey != redacted || s.Source.SecretKey != redacted || s.ExtraEnv[0].Value != redacted || s.ExtraEnv[1].Value != "" {
		t.Errorf("left is %+v", s)
	}
	if len(darkroom.Annotations) != 1 || darkroom.Annotations["other"] != "stays" {
		t.Errorf("annotations are %v", darkroom.Annotations)
	}
	if flatten(before).Source.Credentials != flatten(darkroom).Source.Credentials {
		t.Error("where credentials are is no longer told")
	}
}

func TestRedactorTakesSecretsOutOfMessages(t *testing.T) {
	darkroom := &v1alpha1.Darkroom{}
	darkroom.Spec.Source.SecretKey = "the-key"
	darkroom.Spec.ExtraEnv = []corev1.EnvVar{{Name: "A", Value: "the-value"}, {Name: "B", Value: "1"}}
	got := redactor(darkroom)("refused the-key and the-value, 1 error")
	if strings.Contains(got, "the-") || !strings.Contains(got, "1 error") {
		t.Errorf("message is %q", got)
	}
}
