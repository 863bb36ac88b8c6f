package values

import (
	"strings"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// redacted stands where a credential stood.
const redacted = "[redacted]"

// Redact takes the inline credentials of a Darkroom out of a message, such as an
// error that repeats what the API server refused.
func Redact(darkroom *v1alpha1.Darkroom, message string) string {
	for _, credential := range []string{darkroom.Spec.Source.SecretKey, darkroom.Spec.Source.AccessKey} {
		if credential != "" {
			message = strings.ReplaceAll(message, credential, redacted)
		}
	}
	return message
}
