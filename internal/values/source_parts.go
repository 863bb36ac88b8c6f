package values

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// objectName checks a name that may be empty.
func (b *builder) objectName(path *field.Path, name, of string) {
	if name != "" && len(validation.IsDNS1123Subdomain(name)) > 0 {
		b.invalid(path, name, "must be the name of "+of+": lower-case letters, digits, '-' and '.'")
	}
}

// pathPrefix adds a missing leading slash: without one Darkroom answers 404 to
// every image.
func (b *builder) pathPrefix(source *v1alpha1.Source) {
	if trimmed := strings.Trim(source.PathPrefix, "/"); trimmed != "" {
		b.set("/"+trimmed, "source", "pathPrefix")
	}
}
