package main

import (
	"maps"
	"slices"
	"strings"
	"unicode"
)

// The parts of a CustomResourceDefinition that descriptors are made of.
type (
	crd struct {
		Spec struct {
			Versions []struct {
				Schema struct {
					OpenAPIV3Schema schema `json:"openAPIV3Schema"`
				} `json:"schema"`
			} `json:"versions"`
		} `json:"spec"`
	}

	schema struct {
		Type        string            `json:"type"`
		Description string            `json:"description"`
		Properties  map[string]schema `json:"properties"`
		Items       *schema           `json:"items"`
		Enum        []any             `json:"enum"`
	}
)

// descriptor describes how a console shows one field.
type descriptor struct {
	Description  string   `json:"description"`
	DisplayName  string   `json:"displayName"`
	Path         string   `json:"path"`
	XDescriptors []string `json:"x-descriptors"`
}

// describe returns the descriptors of all fields of an object, sorted by path. A field in
// shows gets the descriptors listed there, and none for its nested fields. Other fields are
// shown by type, and their nested fields are described too.
func describe(object schema, shows map[string][]string) []descriptor {
	var all []descriptor
	var walk func(prefix string, object schema)
	walk = func(prefix string, object schema) {
		for _, name := range slices.Sorted(maps.Keys(object.Properties)) {
			field, path := object.Properties[name], prefix+name
			known, whole := shows[path]
			all = append(all, descriptor{
				Description:  inOneLine(field.Description),
				DisplayName:  displayName(name),
				Path:         path,
				XDescriptors: slices.Concat(how(field, known, whole), groupOf(path), dependency(path)),
			})
			if whole {
				continue
			}
			walk(path+".", field)
			// The one list whose items people fill in one by one.
			if field.Items != nil && arrays[path] {
				walk(path+"[0].", *field.Items)
			}
		}
	}
	walk("", object)
	return all
}

func how(field schema, known []string, whole bool) []string {
	switch {
	case whole:
		return known
	case len(field.Enum) > 0:
		choices := make([]string, 0, len(field.Enum))
		for _, value := range field.Enum {
			if choice, ok := value.(string); ok {
				choices = append(choices, ui+"select:"+choice)
			}
		}
		return choices
	}
	switch field.Type {
	case "boolean":
		return []string{ui + "booleanSwitch"}
	case "integer", "number":
		return []string{ui + "number"}
	case "string":
		return []string{ui + "text"}
	default:
		// An object: its fields have descriptors of their own.
		return []string{ui + "advanced"}
	}
}

// groupOf puts a field of an object under a heading.
func groupOf(path string) []string {
	if list, _, inList := strings.Cut(path, "[0]"); inList {
		return []string{ui + "arrayFieldGroup:" + list}
	}
	if group, _, nested := strings.Cut(path, "."); nested {
		return []string{ui + "fieldGroup:" + group}
	}
	return nil
}

// dependency hides a field of a source unless its kind of source is chosen.
func dependency(path string) []string {
	var conditions []string
	for _, kind := range sourceFields[path] {
		conditions = append(conditions, ui+"fieldDependency:source.type:"+kind)
	}
	// A console knows only one condition; a field of several kinds is always shown.
	if len(conditions) != 1 {
		return nil
	}
	return conditions
}

// inOneLine undoes the line breaks of a comment.
func inOneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// displayName turns a field's name into words.
func displayName(name string) string {
	if words, known := displayNames[name]; known {
		return words
	}
	var words strings.Builder
	for i, letter := range name {
		switch {
		case i == 0:
			words.WriteRune(unicode.ToUpper(letter))
		case unicode.IsUpper(letter):
			words.WriteRune(' ')
			words.WriteRune(unicode.ToLower(letter))
		default:
			words.WriteRune(letter)
		}
	}
	return words.String()
}
