package values

import (
	"slices"
	"strings"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// redacted stands where a credential stood.
const redacted = "[redacted]"

// Redact takes the inline credentials of a Darkroom out of a message, such as an
// error that repeats what the API server refused.
func Redact(darkroom *v1alpha1.Darkroom, message string) string {
	credentials := []string{darkroom.Spec.Source.SecretKey, darkroom.Spec.Source.AccessKey}
	// The longer one first: the shorter one may be part of it.
	slices.SortFunc(credentials, func(a, b string) int { return len(b) - len(a) })
	for _, credential := range credentials {
		if credential != "" {
			message = strings.ReplaceAll(message, credential, redacted)
		}
	}
	return message
}
