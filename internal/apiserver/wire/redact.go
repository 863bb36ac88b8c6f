package wire

import (
	"maps"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/values"
)

// Redacted replaces a secret.
const Redacted = "REDACTED"

// Conceal takes all that is write-only out of a Darkroom, and leaves a mark of it.
func Conceal(darkroom *v1alpha1.Darkroom) {
	source := &darkroom.Spec.Source
	for _, key := range []*string{&source.AccessKey, &source.SecretKey} {
		if *key != "" {
			*key = Redacted
		}
	}
	for i := range darkroom.Spec.ExtraEnv {
		if variable := &darkroom.Spec.ExtraEnv[i]; variable.Value != "" {
			variable.Value = Redacted
		}
	}
	darkroom.Annotations = shownAnnotations(darkroom.Annotations)
}

// Redactor returns a function that removes the secrets of some Darkrooms from messages.
func Redactor(darkrooms ...*v1alpha1.Darkroom) func(string) string {
	return func(message string) string {
		for _, darkroom := range darkrooms {
			message = values.Redact(darkroom, message)
		}
		return message
	}
}

// SameSecrets reports whether two specs have the same write-only values.
func SameSecrets(a, b *v1alpha1.DarkroomSpec) bool { return maps.Equal(writeOnly(a), writeOnly(b)) }

// writeOnly returns the values in a spec that are never shown, by their fields.
func writeOnly(spec *v1alpha1.DarkroomSpec) map[string]string {
	out := map[string]string{"source.accessKey": spec.Source.AccessKey, "source.secretKey": spec.Source.SecretKey}
	for i := range spec.ExtraEnv {
		out["extraEnv."+spec.ExtraEnv[i].Name] = spec.ExtraEnv[i].Value
	}
	return out
}
