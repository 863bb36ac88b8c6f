package controller

import (
	"slices"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/darkroom-operator/darkroom-operator/internal/definition"
)

// each calls a function with every schema that lacks one field or value of the given schema.
func each(
	path string, whole apiextensionsv1.JSONSchemaProps, call func(lacking string, part apiextensionsv1.JSONSchemaProps),
) {
	for name, field := range whole.Properties {
		with := func(change func(map[string]apiextensionsv1.JSONSchemaProps)) apiextensionsv1.JSONSchemaProps {
			part := whole
			part.Properties = map[string]apiextensionsv1.JSONSchemaProps{}
			for name, field := range whole.Properties {
				part.Properties[name] = field
			}
			change(part.Properties)
			return part
		}
		call(path+"."+name, with(func(fields map[string]apiextensionsv1.JSONSchemaProps) { delete(fields, name) }))
		each(path+"."+name, field, func(lacking string, part apiextensionsv1.JSONSchemaProps) {
			call(lacking, with(func(fields map[string]apiextensionsv1.JSONSchemaProps) { fields[name] = part }))
		})
	}
	if whole.Items != nil {
		each(path+"[]", *whole.Items.Schema, func(lacking string, part apiextensionsv1.JSONSchemaProps) {
			item := whole
			item.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &part}
			call(lacking, item)
		})
	}
	for i, value := range whole.Enum {
		part := whole
		part.Enum = slices.Delete(slices.Clone(whole.Enum), i, i+1)
		call(path+": "+string(value.Raw), part)
	}
}

func TestEachFieldThatADefinitionLacksIsNamed(t *testing.T) {
	t.Parallel()
	written, err := definition.Schema()
	if err != nil {
		t.Fatal(err)
	}
	status, found := written.Properties["status"], 0
	if lacking := lacks("status", status, status); len(lacking) > 0 {
		t.Errorf("the current definition lacks %v", lacking)
	}
	each("status", status, func(lacking string, part apiextensionsv1.JSONSchemaProps) {
		found++
		if got := lacks("status", status, part); !slices.Equal(got, []string{lacking}) {
			t.Errorf("without %s: got %v as lacking", lacking, got)
		}
	})
	if found < 30 {
		t.Errorf("checked only %d fields and values", found)
	}
}
