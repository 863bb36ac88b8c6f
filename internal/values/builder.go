package values

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

var specPath = field.NewPath("spec")

// builder collects the chart values and all errors. build fails once with all of them.
type builder struct {
	values map[string]any
	errs   field.ErrorList
}

// build returns the values, or an *InvalidError with all invalid fields.
func (b *builder) build(name string) (map[string]any, error) {
	if len(b.errs) > 0 {
		return nil, &InvalidError{Name: name, Fields: b.errs}
	}
	return b.values, nil
}

// set sets a value at a path of keys and creates the maps on the way. Exactly one place in this package sets each
// value, so overwriting a value is a programming error and makes build fail.
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
	b.errs = append(b.errs, field.InternalError(field.NewPath("values", path...),
		errors.New("set twice by the translator")))
}

// setNonZero sets a value unless it is zero.
func setNonZero[T string | bool](b *builder, value T, path ...string) {
	if value != *new(T) {
		b.set(value, path...)
	}
}

// setGiven sets a value unless it is nil.
func setGiven[T int32 | int64 | bool](b *builder, value *T, path ...string) {
	if value != nil {
		b.set(*value, path...)
	}
}

// setPlain converts a value of a Kubernetes type to the plain types of JSON, as templates and schema expect, and sets
// it, unless it is nil or an empty list or map. The chart renders such values with toYaml, which renders nothing if it
// fails, so values that YAML cannot represent are rejected.
func (b *builder) setPlain(value any, from *field.Path, path ...string) {
	if of := reflect.ValueOf(value); of.Kind() == reflect.Pointer && of.IsNil() ||
		(of.Kind() == reflect.Slice || of.Kind() == reflect.Map) && of.Len() == 0 {
		return
	}
	var plain any
	raw, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(raw, &plain)
	}
	if err != nil {
		b.errs = append(b.errs, field.InternalError(from, err))
		return
	}
	if !survivesYAML(plain) {
		b.invalid(from, field.OmitValueType{},
			"contains a control character or a key that YAML cannot represent: remove it, or put the value in a ConfigMap or Secret")
		return
	}
	b.set(plain, path...)
}

// survivesYAML reports whether encoding a plain value as YAML and decoding it yields the same value.
func survivesYAML(plain any) bool {
	raw, err := yaml.Marshal(plain)
	if err != nil {
		return false
	}
	var back any
	return yaml.Unmarshal(raw, &back) == nil && reflect.DeepEqual(plain, back)
}

func (b *builder) invalid(path *field.Path, value any, detail string) {
	b.errs = append(b.errs, field.Invalid(path, value, detail))
}

func (b *builder) forbidden(path *field.Path, detail string) {
	b.errs = append(b.errs, field.Forbidden(path, detail))
}

// InvalidError is returned for a Darkroom that cannot be translated until it is changed. It lists all invalid fields.
type InvalidError struct {
	// Name is the Darkroom's name.
	Name string
	// Fields are the errors of the invalid fields. Each error contains the remedy.
	Fields field.ErrorList
}

// Error joins the messages of all invalid fields.
func (e *InvalidError) Error() string {
	messages := make([]string, len(e.Fields))
	for i, fieldErr := range e.Fields {
		messages[i] = fieldErr.Error()
	}
	return fmt.Sprintf("Darkroom %q is invalid: %s", e.Name, strings.Join(messages, "; "))
}
