package values

import (
	"encoding/json"
	"errors"
	"reflect"
	"regexp"

	"helm.sh/helm/v3/pkg/chartutil"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

// maxNameLength is Helm's limit for release names; a release is named after its
// Darkroom.
const maxNameLength = 53

// nameFormat is that of Service names, because the Service is named so too.
var nameFormat = regexp.MustCompile(`^[a-z]([-a-z0-9]*[a-z0-9])?$`)

var specPath = field.NewPath("spec")

// builder collects chart values and all errors, and fails once, in build.
type builder struct {
	values map[string]any
	errs   field.ErrorList
}

func newBuilder() *builder {
	return &builder{values: map[string]any{}}
}

// build returns the values, or an *InvalidError with all invalid fields.
func (b *builder) build(name string) (chartutil.Values, error) {
	if len(b.errs) > 0 {
		return nil, &InvalidError{Name: name, Fields: b.errs}
	}
	return b.values, nil
}

// set puts a value at a path of keys and creates the maps on the way. Each value has
// one place in this package that decides it: to overwrite one is a programming error,
// and is reported instead of the values.
func (b *builder) set(value any, path ...string) {
	at, last := b.values, len(path)-1
	for i, key := range path[:last] {
		if _, found := at[key]; !found {
			at[key] = map[string]any{}
		}
		next, isMap := at[key].(map[string]any)
		if !isMap {
			b.setTwice(path[:i+1])
			return
		}
		at = next
	}
	if _, found := at[path[last]]; found {
		b.setTwice(path)
		return
	}
	at[path[last]] = value
}

func (b *builder) setTwice(path []string) {
	b.errs = append(b.errs, field.InternalError(field.NewPath("values", path...), errors.New("set twice by the translator")))
}

// setString is set for a string that is left out when empty.
func (b *builder) setString(value string, path ...string) {
	if value != "" {
		b.set(value, path...)
	}
}

// setPlain is set for the Kubernetes type of a field: it is put in the plain types
// of JSON, as templates and schema expect. The chart writes such values as YAML,
// and writes nothing at all where YAML cannot carry one; so that is refused.
func (b *builder) setPlain(value any, from *field.Path, path ...string) {
	plain, err := plain(value)
	if err != nil {
		b.errs = append(b.errs, field.InternalError(from, err))
		return
	}
	if !survivesYAML(plain) {
		b.invalid(from, field.OmitValueType{}, "holds a control character or a key that YAML cannot carry: remove it, or put the value in a ConfigMap or Secret")
		return
	}
	b.set(plain, path...)
}

// survivesYAML reports whether a plain value is the same after encoding and decoding as
// YAML.
func survivesYAML(plain any) bool {
	raw, err := yaml.Marshal(plain)
	if err != nil {
		return false
	}
	var back any
	return yaml.Unmarshal(raw, &back) == nil && reflect.DeepEqual(plain, back)
}

func plain(value any) (any, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var out any
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, err
	}
	return out, nil
}

func (b *builder) required(path *field.Path, detail string) {
	b.errs = append(b.errs, field.Required(path, detail))
}

func (b *builder) invalid(path *field.Path, value any, detail string) {
	b.errs = append(b.errs, field.Invalid(path, value, detail))
}

func (b *builder) forbidden(path *field.Path, detail string) {
	b.errs = append(b.errs, field.Forbidden(path, detail))
}

// duplicates refuses items of a list that have the same key: the lists that the API
// server merges by key refuse an apply with such items.
func duplicates[T any, K comparable](b *builder, path *field.Path, items []T, keyOf func(T) K) {
	seen := make(map[K]bool, len(items))
	for i, item := range items {
		key := keyOf(item)
		if seen[key] {
			b.errs = append(b.errs, field.Duplicate(path.Index(i), key))
		}
		seen[key] = true
	}
}

// name sets the name of every object to that of the Darkroom. Helm's convention
// (release-chart) would give the Darkrooms "a" and "a-darkroom" the same names.
func (b *builder) name(name string) {
	path := field.NewPath("metadata", "name")
	switch {
	case name == "":
		b.required(path, "the Darkroom needs a name")
	case len(name) > maxNameLength:
		b.errs = append(b.errs, field.TooLong(path, name, maxNameLength))
	case !nameFormat.MatchString(name):
		b.invalid(path, name, "must start with a letter and contain only lower-case letters, digits and '-': it becomes the name of a Service")
	}
	b.set(name, "fullnameOverride")
}
