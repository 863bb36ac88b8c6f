package values

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// What the API server refuses of annotations and labels is refused here too, where
// the field of the Darkroom can be named.

// annotations checks the keys; values may be anything.
func (b *builder) annotations(path *field.Path, annotations map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		// As the API server does: the prefix may be upper-case.
		if problems := validation.IsQualifiedName(strings.ToLower(key)); len(problems) > 0 {
			b.invalid(path.Key(key), key, "must be the key of an annotation, for example example.com/note: "+problems[0])
		}
	}
}

// labels checks keys and values.
func (b *builder) labels(path *field.Path, labels map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if problems := validation.IsQualifiedName(key); len(problems) > 0 {
			b.invalid(path.Key(key), key, "must be the key of a label, for example example.com/team: "+problems[0])
		}
		if problems := validation.IsValidLabelValue(labels[key]); len(problems) > 0 {
			b.invalid(path.Key(key), labels[key], "must be the value of a label: "+problems[0])
		}
	}
}
