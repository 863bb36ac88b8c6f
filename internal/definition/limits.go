package definition

import (
	"maps"
	"slices"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/utils/ptr"
)

// withinLimits returns a value for which the cost of evaluating rules stays within the limits of the schema. It
// truncates values that are too long, and sets missing required fields to an empty value.
func withinLimits(value any, schema *structuralschema.Structural) any {
	limits := schema.ValueValidation
	if limits == nil {
		limits = &structuralschema.ValueValidation{}
	}
	switch value := value.(type) {
	case string:
		if runes := []rune(value); limits.MaxLength != nil && int64(len(runes)) > *limits.MaxLength {
			return string(runes[:*limits.MaxLength])
		}
	case []any:
		out := slices.Clone(value[:min(len(value), int(ptr.Deref(limits.MaxItems, int64(len(value)))))])
		for i := range out {
			out[i] = withinLimits(out[i], schema.Items)
		}
		return out
	case map[string]any:
		return fieldsWithinLimits(value, schema, limits)
	}
	return value
}

func fieldsWithinLimits(
	object map[string]any, schema *structuralschema.Structural, limits *structuralschema.ValueValidation,
) map[string]any {
	out := map[string]any{}
	most := int(ptr.Deref(limits.MaxProperties, int64(len(object))))
	for _, name := range slices.Sorted(maps.Keys(object)) {
		field, isField := schema.Properties[name]
		switch {
		case isField:
			out[name] = withinLimits(object[name], &field)
		case schema.AdditionalProperties != nil && schema.AdditionalProperties.Structural != nil && len(out) < most:
			out[name] = withinLimits(object[name], schema.AdditionalProperties.Structural)
		case schema.AdditionalProperties == nil || schema.AdditionalProperties.Structural == nil:
			out[name] = object[name]
		}
	}
	for _, name := range limits.Required {
		if _, isSet := out[name]; !isSet {
			field := schema.Properties[name]
			out[name] = withinLimits(empty[field.Type], &field)
		}
	}
	return out
}

// empty contains the empty value for each type of required fields.
var empty = map[string]any{
	"string": "", "array": []any{}, "object": map[string]any{}, "integer": int64(0), "boolean": false,
}
