package wire

import (
	"cmp"
	"reflect"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/problem"
	"github.com/darkroom-operator/darkroom-operator/internal/definition"
)

// Global settings of huma, for all registries and decoders.
func init() {
	// Names are case-sensitive, and an empty list is not null.
	huma.ValidateStrictCasing = true
	huma.DefaultArrayNullable = false
}

// NewRegistry returns the schemas of an OpenAPI document, with those of Kubernetes' types that
// describe themselves otherwise.
func NewRegistry() huma.Registry {
	out := huma.NewMapRegistry("#/components/schemas/", schemaName)
	out.RegisterTypeAlias(reflect.TypeFor[resource.Quantity](), reflect.TypeFor[quantity]())
	out.RegisterTypeAlias(reflect.TypeFor[metav1.Time](), reflect.TypeFor[time.Time]())
	return out
}

// Describe adds the descriptions of the CRD to the schemas of Darkrooms.
func Describe(registry huma.Registry) error {
	darkroom, err := definition.Schema()
	if err != nil {
		return err
	}
	spec, status := darkroom.Properties["spec"], darkroom.Properties["status"]
	additional := *spec.Properties["additionalSources"].Items.Schema
	for name, described := range map[string]apiextensionsv1.JSONSchemaProps{
		"Darkroom": spec, "DarkroomInput": spec, "RevisionSettings": spec,
		"Source": spec.Properties["source"], "SourceInput": spec.Properties["source"], "Status": status,
		"AdditionalSource": additional, "AdditionalSourceInput": additional,
	} {
		for field, schema := range registry.Map()[name].Properties {
			schema.Description = cmp.Or(schema.Description, described.Properties[field].Description)
		}
	}
	return nil
}

// PatchOf returns the schema of JSON merge patches of what a schema describes: no field is required, and null removes
// one.
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

// schemaName returns the name of a type in the OpenAPI document, for types whose name needs
// that of their package.
func schemaName(t reflect.Type, hint string) string {
	switch t {
	case reflect.TypeFor[problem.Details]():
		return "Problem"
	case reflect.TypeFor[problem.Field]():
		return "FieldProblem"
	}
	return huma.DefaultSchemaNamer(t, hint)
}

// quantityPattern is that of the CRD, with exponents of two digits.
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
