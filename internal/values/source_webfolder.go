package values

import (
	"strings"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// webFolder reads images from an http or https URL. Darkroom concatenates the URL and the
// path of the image, so a trailing slash would be doubled.
func (b *builder) webFolder(source *v1alpha1.Source) {
	b.set(strings.TrimRight(source.BaseURL, "/"), "source", "baseUrl")
}
