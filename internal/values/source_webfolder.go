package values

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// webFolder reads images from an http or https URL. Darkroom concatenates the URL and the
// path of the image, so a trailing slash would be doubled.
func (b *builder) webFolder(path *field.Path, source *v1alpha1.Source) {
	path = path.Child("baseUrl")
	switch {
	case source.BaseURL == "":
		b.required(path, "needed when source.type is WebFolder, for example https://example.com/images")
	case !absoluteURL.MatchString(source.BaseURL):
		b.invalid(path, shown(source.BaseURL), "must be an absolute http or https URL without user, query or fragment, for example https://example.com/images")
	default:
		b.set(strings.TrimRight(source.BaseURL, "/"), "source", "baseUrl")
	}
}
