package values

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// InvalidError says that a Darkroom cannot be translated until somebody changes
// it. It names every field that is wrong, never only the first.
type InvalidError struct {
	// Name is the Darkroom's name.
	Name string
	// Fields are the wrong fields, each with what to do about it.
	Fields field.ErrorList
}

// Error joins the messages of all wrong fields.
func (e *InvalidError) Error() string {
	messages := make([]string, len(e.Fields))
	for i, fieldErr := range e.Fields {
		messages[i] = fieldErr.Error()
	}
	return fmt.Sprintf("Darkroom %q is invalid: %s", e.Name, strings.Join(messages, "; "))
}
