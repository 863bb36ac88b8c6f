package apiserver

import (
	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// redacted stands where a secret stood.
const redacted = "REDACTED"

// conceal takes all that is write-only out of a Darkroom, and leaves a mark of it.
func conceal(darkroom *v1alpha1.Darkroom) {
	source := &darkroom.Spec.Source
	for _, key := range []*string{&source.AccessKey, &source.SecretKey} {
		if *key != "" {
			*key = redacted
		}
	}
	for i := range darkroom.Spec.ExtraEnv {
		if variable := &darkroom.Spec.ExtraEnv[i]; variable.Value != "" {
			variable.Value = redacted
		}
	}
	darkroom.Annotations = shownAnnotations(darkroom.Annotations)
}

// redactor returns a function that takes the secrets of some Darkrooms out of
// messages.
func redactor(darkrooms ...*v1alpha1.Darkroom) func(string) string {
	return func(message string) string {
		for _, darkroom := range darkrooms {
			message = values.Redact(darkroom, message)
		}
		return message
	}
}
