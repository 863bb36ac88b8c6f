package values

import (
	"reflect"
	"strings"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// unlisted are the annotations of a Darkroom that need no list of the administrator, with the
// reason.
var unlisted = map[string]string{
	"spec.podTemplate.annotations": "whoever may create a Darkroom may run any pod in its namespace (docs/security.md)",
}

// A field that is added to the API is in this test without a change of it: each map named
// annotations is either on a list of the administrator or among the exceptions.
func TestAnnotationsOfEveryFieldFollowTheListOfTheAdministrator(t *testing.T) {
	const dns, note = "external-dns.alpha.kubernetes.io/hostname", "example.com/note"
	fields := annotationFields(reflect.TypeFor[v1alpha1.DarkroomSpec](), "spec")
	want := []string{"spec.ingress.annotations", "spec.gateway.annotations", "spec.podTemplate.annotations"}
	for _, path := range want {
		if _, found := fields[path]; !found {
			t.Errorf("%s is not found in the API", path)
		}
	}
	for path, index := range fields {
		darkroom := photos().Gateway("public").Obj()
		set := func(key string) error {
			annotationsAt(reflect.ValueOf(&darkroom.Spec).Elem(), index).Set(reflect.ValueOf(map[string]string{key: "x"}))
			_, err := translatorWith(t, "default", note).Values(darkroom)
			return err
		}
		if err := set(note); err != nil {
			t.Errorf("%s: %s is on the list: %v", path, note, err)
		}
		err := set(dns)
		refused := err != nil && strings.Contains(err.Error(), path+"["+dns+"]: Forbidden: not on the operator's list of annotations")
		if _, exempt := unlisted[path]; refused == exempt {
			t.Errorf("%s: %s, exempt %v: %v", path, dns, exempt, err)
		}
	}
}

// annotationFields returns the indexes of the maps named annotations, by path.
func annotationFields(of reflect.Type, path string) map[string][]int {
	found := map[string][]int{}
	for i := range of.NumField() {
		field := of.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		below := path
		if name != "" {
			below += "." + name
		}
		kind := field.Type
		if kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		if kind == reflect.TypeFor[map[string]string]() && strings.HasSuffix(strings.ToLower(name), "annotations") {
			found[below] = []int{i}
		}
		if kind.Kind() == reflect.Struct && kind.PkgPath() == of.PkgPath() {
			for path, index := range annotationFields(kind, below) {
				found[path] = append([]int{i}, index...)
			}
		}
	}
	return found
}

// annotationsAt returns the field of a struct at an index, and creates the structs on the way.
func annotationsAt(of reflect.Value, index []int) reflect.Value {
	for _, i := range index {
		if of.Kind() == reflect.Pointer {
			if of.IsNil() {
				of.Set(reflect.New(of.Type().Elem()))
			}
			of = of.Elem()
		}
		of = of.Field(i)
	}
	return of
}

func translatorWith(t *testing.T, allowed ...string) *Translator {
	t.Helper()
	translator, err := New(Options{AllowedAnnotations: allowed})
	if err != nil {
		t.Fatal(err)
	}
	return translator
}
