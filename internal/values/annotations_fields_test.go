package values

import (
	"reflect"
	"slices"
	"strings"
	"testing"
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
	translator := newTranslator(t, Options{AllowedAnnotations: []string{"default", note}})
	darkroom := photos().Gateway("public").Obj()
	var found []string
	eachField(reflect.ValueOf(&darkroom.Spec).Elem(), "spec", func(path string, field reflect.Value) {
		if field.Type() != reflect.TypeFor[map[string]string]() || !strings.HasSuffix(strings.ToLower(path), "annotations") {
			return
		}
		found = append(found, path)
		defer field.SetZero()
		set := func(key string) error {
			field.Set(reflect.ValueOf(map[string]string{key: "x"}))
			_, err := translator.Values(darkroom)
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
	})
	for _, path := range []string{"spec.ingress.annotations", "spec.gateway.annotations", "spec.podTemplate.annotations"} {
		if !slices.Contains(found, path) {
			t.Errorf("%s is not found in the API", path)
		}
	}
}
