package manifest

// EachText returns a part of an object with each of its texts replaced, keys of maps included. What it is
// given stays as it is.
func EachText(value any, replace func(string) string) any {
	switch value := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(value))
		for key, field := range value {
			out[replace(key)] = EachText(field, replace)
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
