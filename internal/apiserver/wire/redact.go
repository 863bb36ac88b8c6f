package wire

import (
	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/redact"
)

// Redacted replaces a secret.
const Redacted = v1alpha1.Concealed

// Conceal takes all that is write-only out of a Darkroom, and leaves a mark of it.
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
