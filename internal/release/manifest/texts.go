package manifest

import (
	"maps"
	"slices"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// EachText returns a copy of a part of an object with every string replaced, including map keys. Keys are visited in
// sorted order.
func EachText(value any, replace func(string) string) any {
	switch value := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(value))
		for _, key := range slices.Sorted(maps.Keys(value)) {
			out[replace(key)] = EachText(value[key], replace)
		}
		return out
	case []any:
		out := make([]any, len(value))
		for i, item := range value {
			out[i] = EachText(item, replace)
		}
		return out
	case string:
		return replace(value)
	}
	return value
}

// ConcealVariables conceals the literal values of all environment variables in a part of an object, because they may be
// secrets.
func ConcealVariables(value any) {
	switch value := value.(type) {
	case map[string]any:
		variables, _ := value["env"].([]any)
		for _, variable := range variables {
			if fields, ok := variable.(map[string]any); ok && fields["value"] != nil {
				fields["value"] = v1alpha1.Concealed
			}
		}
		for _, field := range value {
			ConcealVariables(field)
		}
	case []any:
		for _, item := range value {
			ConcealVariables(item)
		}
	}
}
