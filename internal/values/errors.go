package values

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// InvalidError is returned for a Darkroom that cannot be translated until it is changed. It
// lists all invalid fields.
type InvalidError struct {
	// Name is the Darkroom's name.
	Name string
	// Fields are the errors of the invalid fields, each with a remedy.
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
