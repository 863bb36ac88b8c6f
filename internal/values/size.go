package values

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// Limits of a spec, in bytes of JSON and in number of values. The CRD does not limit every list and map, and rendering
// a value takes more than a kilobyte and 40 µs: a megabyte of tolerations took 250 MiB and 7 s. The sample with all
// fields has a few hundred values.
const maxSpec, maxValues = 512 << 10, 10_000

// size rejects a spec that would take too much memory to render.
func (b *builder) size(spec *v1alpha1.DarkroomSpec) {
	raw, err := json.Marshal(spec)
	if err != nil {
		b.errs = append(b.errs, field.InternalError(specPath, err))
		return
	}
	if values := countValues(raw); len(raw) > maxSpec || values > maxValues {
		b.invalid(specPath, field.OmitValueType{}, fmt.Sprintf(
			"is too large: it has %d bytes of JSON and %d values, but the limits are %d bytes and %d values", len(raw),
			values, maxSpec, maxValues))
	}
}

// countValues returns the number of strings, numbers, lists and other values in JSON.
func countValues(raw []byte) int {
	values, isText, isEscaped := 1, false, false
	for _, char := range raw {
		switch {
		case isEscaped:
			isEscaped = false
		case isText && char == '\\':
			isEscaped = true
		case char == '"':
			isText = !isText
		case !isText && (char == ',' || char == '{' || char == '['):
			values++
		}
	}
	return values
}
