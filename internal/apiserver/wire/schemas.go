package wire

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/definition"
)

// huma has global settings only.
func init() {
	// Names are case-sensitive, and an empty list is not null.
	huma.ValidateStrictCasing = true
	huma.DefaultArrayNullable = false
}

// NewRegistry returns a registry with schemas of the Kubernetes types whose JSON differs from their Go type.
func NewRegistry() huma.Registry {
	out := huma.NewMapRegistry("#/components/schemas/", schemaName)
	out.RegisterTypeAlias(reflect.TypeFor[resource.Quantity](), reflect.TypeFor[quantity]())
	out.RegisterTypeAlias(reflect.TypeFor[metav1.Time](), reflect.TypeFor[time.Time]())
	return out
}

// patchName is the name of the schema of patches.
const patchName = "DarkroomPatch"

// PatchRef is a reference to the schema of patches.
const PatchRef = "#/components/schemas/" + patchName

// Describe adds the descriptions and bounds of the CRD to the schemas of Darkrooms in a document, and the schema of
// patches. The schemas of a Decoder have no bounds, which the cluster checks.
func Describe(registry huma.Registry) error {
	darkroom, err := definition.Schema()
	if err != nil {
		return err
	}
	spec, status := darkroom.Properties["spec"], darkroom.Properties["status"]
	for name, described := range map[string]*apiextensionsv1.JSONSchemaProps{
		"Darkroom": &spec, "DarkroomInput": &spec, "RevisionSettings": &spec, "Status": &status,
	} {
		if err := describe(registry, registry.Map()[name], described); err != nil {
			return fmt.Errorf("describe %s: %w", name, err)
		}
	}
	patch := PatchOf(registry, registry.Map()["DarkroomInput"])
	patch.Nullable, patch.Description = false, "The fields of a Darkroom that change; null removes one"
	registry.Map()[patchName] = patch
	return nil
}

// describe adds description and bounds of a schema of the CRD, recursively.
func describe(registry huma.Registry, schema *huma.Schema, crd *apiextensionsv1.JSONSchemaProps) error {
	schema.Description = cmp.Or(schema.Description, crd.Description)
	if schema.Ref != "" {
		schema = registry.SchemaFromRef(schema.Ref)
	}
	if crd.XIntOrString {
		return nil // a quantity has its own schema
	}
	if err := bound(schema, crd); err != nil {
		return err
	}
	for name, field := range crd.Properties {
		if schema.Properties[name] == nil {
			continue // such as the keys of a source in responses
		}
		if err := describe(registry, schema.Properties[name], &field); err != nil {
			return err
		}
	}
	if crd.Items != nil && schema.Items != nil {
		return describe(registry, schema.Items, crd.Items.Schema)
	}
	values, ok := schema.AdditionalProperties.(*huma.Schema)
	if ok && crd.AdditionalProperties != nil {
		return describe(registry, values, crd.AdditionalProperties.Schema)
	}
	return nil
}

// bound adds the bounds of a schema of the CRD.
func bound(schema *huma.Schema, crd *apiextensionsv1.JSONSchemaProps) error {
	for _, value := range crd.Enum {
		var known any
		if err := json.Unmarshal(value.Raw, &known); err != nil {
			return fmt.Errorf("read enum: %w", err)
		}
		if !slices.Contains(schema.Enum, known) {
			schema.Enum = append(schema.Enum, known)
		}
	}
	for _, name := range crd.Required {
		if schema.Properties[name] != nil && !slices.Contains(schema.Required, name) {
			schema.Required = append(schema.Required, name)
		}
	}
	schema.Pattern = cmp.Or(schema.Pattern, crd.Pattern)
	schema.Minimum, schema.Maximum = cmp.Or(crd.Minimum, schema.Minimum), cmp.Or(crd.Maximum, schema.Maximum)
	for _, count := range []struct {
		of  **int
		crd *int64
	}{
		{&schema.MinLength, crd.MinLength},
		{&schema.MaxLength, crd.MaxLength},
		{&schema.MinItems, crd.MinItems},
		{&schema.MaxItems, crd.MaxItems},
		{&schema.MinProperties, crd.MinProperties},
		{&schema.MaxProperties, crd.MaxProperties},
	} {
		if count.crd != nil {
			*count.of = ptr.To(int(*count.crd))
		}
	}
	return nil
}

// PatchOf returns the schema of JSON merge patches of a schema: no field is required, and null removes a field.
func PatchOf(registry huma.Registry, schema *huma.Schema) *huma.Schema {
	if schema.Ref != "" {
		schema = registry.SchemaFromRef(schema.Ref)
	}
	if len(schema.OneOf) > 0 {
		return &huma.Schema{
			Description: schema.Description,
			OneOf:       append(slices.Clone(schema.OneOf), &huma.Schema{Type: "null"}),
		}
	}
	out := *schema
	out.Nullable, out.Required = true, nil
	if len(out.Enum) > 0 {
		out.Enum = append(slices.Clone(out.Enum), nil)
	}
	if values, ok := schema.AdditionalProperties.(*huma.Schema); ok {
		out.AdditionalProperties = PatchOf(registry, values)
	}
	if len(schema.Properties) > 0 {
		out.Properties = map[string]*huma.Schema{}
		for name, field := range schema.Properties {
			out.Properties[name] = PatchOf(registry, field)
		}
	}
	return &out
}

// schemaName returns the name of a type in the OpenAPI document. The names of the types in package problem are too
// general.
func schemaName(t reflect.Type, hint string) string {
	switch t {
	case reflect.TypeFor[problem.Details]():
		return "Problem"
	case reflect.TypeFor[problem.Field]():
		return "FieldProblem"
	}
	return huma.DefaultSchemaNamer(t, hint)
}

// quantityPattern is the pattern of the CRD, with exponents of two digits.
const quantityPattern = `^[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,2})?$`

// quantity describes a Kubernetes quantity, which is a string or a number.
type quantity struct{}

// Schema implements huma.SchemaProvider.
func (quantity) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Description: "A quantity such as 500m, 2 or 256Mi",
		OneOf:       []*huma.Schema{{Type: huma.TypeString, Pattern: quantityPattern}, {Type: huma.TypeNumber}},
	}
}
