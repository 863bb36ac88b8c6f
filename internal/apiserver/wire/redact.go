package wire

import (
	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/redact"
)

// Redacted replaces a secret.
const Redacted = v1alpha1.Concealed

// Conceal replaces the write-only values of a Darkroom by Redacted, and removes annotations that may contain them.
func Conceal(darkroom *v1alpha1.Darkroom) {
	darkroom.Spec = *darkroom.Spec.Concealed()
	darkroom.Annotations = shownAnnotations(darkroom.Annotations)
}

// Redactor returns a function that removes the secrets of some Darkrooms from messages.
func Redactor(darkrooms ...*v1alpha1.Darkroom) func(string) string {
	return func(message string) string {
		for _, darkroom := range darkrooms {
			message = redact.Message(darkroom, message)
		}
		return message
	}
}
