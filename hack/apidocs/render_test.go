package main

import (
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/utils/ptr"
)

func TestChecksAreSaidInSentences(t *testing.T) {
	text := func(word string) apiextensionsv1.JSON { return apiextensionsv1.JSON{Raw: []byte(`"` + word + `"`)} }
	rules := func(message string) apiextensionsv1.ValidationRules {
		return apiextensionsv1.ValidationRules{{Message: message}}
	}
	for name, c := range map[string]struct {
		field schema
		want  string
	}{
		"nothing to check": {schema{Type: "string"}, ""},
		"default and enum": {
			schema{Default: ptr.To(text("a")), Enum: []apiextensionsv1.JSON{text("a"), text("b")}},
			"Default: `a`. One of `a`, `b`.",
		},
		"bounds": {schema{Minimum: ptr.To(0.0), Maximum: ptr.To(9.0)}, "From 0 to 9."},
		"least":  {schema{Minimum: ptr.To(1.0)}, "At least 1."},
		"length": {
			schema{MinLength: ptr.To[int64](1), MaxLength: ptr.To[int64](63)},
			"Not empty. At most 63 characters.",
		},
		"rule": {schema{XValidations: rules("must be <x>|y")}, `Must be &lt;x&gt;\|y.`},
		"list and its entries": {
			schema{
				MinItems: ptr.To[int64](1), MaxItems: ptr.To[int64](4), XListType: ptr.To("set"),
				Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &schema{MaxLength: ptr.To[int64](5)}},
			},
			"From 1 to 4 entries. No duplicates. Each: At most 5 characters.",
		},
		"rules of an object": {schema{Properties: map[string]schema{"a": {}}, XValidations: rules("x")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(checks(c.field), " "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestAFieldThatIsGoneIsAnError(t *testing.T) {
	var definition apiextensionsv1.CustomResourceDefinition
	definition.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{
		{Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &schema{}}},
	}
	if _, err := render(definition); err == nil || !strings.Contains(err.Error(), "kubernetesTypes") {
		t.Errorf("a link of kubernetesTypes without a field must be an error, not %v", err)
	}
}
