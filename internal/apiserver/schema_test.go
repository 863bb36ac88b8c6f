package apiserver_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/internal/definition"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

// bounds are the keywords of a schema that limit the values of a field.
var bounds = []string{
	"enum", "pattern", "required", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "minProperties",
	"maxProperties",
}

// sideBySide visits the CRD's schema and the document's schema of the same value together.
type sideBySide struct {
	t     *testing.T
	root  map[string]any
	found int
}

func (s *sideBySide) resolve(schema map[string]any) map[string]any {
	ref, isRef := schema["$ref"].(string)
	if !isRef {
		return schema
	}
	value := any(s.root)
	for step := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		value = value.(map[string]any)[step]
	}
	return value.(map[string]any)
}

// sorted returns a sorted copy of a list, because all tests share the document. Other values are returned unchanged.
func sorted(value any) any {
	list, isList := value.([]any)
	if !isList {
		return value
	}
	return slices.SortedFunc(slices.Values(list), func(a, b any) int {
		return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
	})
}

func (s *sideBySide) walk(at string, crd, document map[string]any) {
	document = s.resolve(document)
	if crd["x-kubernetes-int-or-string"] == true {
		return // quantities have their own schema
	}
	for _, name := range bounds {
		want, got := sorted(crd[name]), sorted(document[name])
		if want == nil && got == nil {
			continue
		}
		s.found++
		if !reflect.DeepEqual(want, got) {
			s.t.Errorf("%s: %s is %v in the document, and %v in the CRD", at, name, got, want)
		}
	}
	for _, inner := range []string{"items", "additionalProperties"} {
		in, has := crd[inner].(map[string]any)
		if to, also := document[inner].(map[string]any); has && also {
			s.walk(at+"."+inner, in, to)
		} else if has != also {
			s.t.Errorf("%s: only one has %s", at, inner)
		}
	}
	fields, _ := document["properties"].(map[string]any)
	of, _ := crd["properties"].(map[string]any)
	for name, field := range of {
		to, has := fields[name].(map[string]any)
		if !has {
			s.t.Errorf("%s: the document does not contain the field %s", at, name)
			continue
		}
		s.walk(at+"."+name, field.(map[string]any), to)
	}
}

// With these bounds, generated clients reject everything that the cluster rejects, except for CEL rules.
func TestTheDocumentHasTheBoundsOfTheCRD(t *testing.T) {
	schema, err := definition.Schema()
	expect.NoError(t, err)
	raw, err := json.Marshal(schema.Properties["spec"])
	expect.NoError(t, err)
	var crd map[string]any
	expect.NoError(t, json.Unmarshal(raw, &crd))
	walk := &sideBySide{t: t, root: document()}
	walk.walk("spec", crd, map[string]any{"$ref": "#/components/schemas/DarkroomInput"})
	if walk.found < 150 {
		t.Errorf("only %d bounds are compared", walk.found)
	}
}
