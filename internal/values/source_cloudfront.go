package values

import (
	"regexp"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

var hostFormat = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:[0-9]{1,5})?$`)

// cloudFront reads images from a CloudFront distribution.
func (b *builder) cloudFront(path *field.Path, source *v1alpha1.Source) {
	switch {
	case source.Host == "":
		b.required(path.Child("host"), "needed when source.type is CloudFront, for example d111111abcdef8.cloudfront.net")
	case !hostFormat.MatchString(source.Host):
		b.invalid(path.Child("host"), shown(source.Host), "must be a host name without scheme or path, for example d111111abcdef8.cloudfront.net")
	}
	b.set(source.Host, "source", "host")
	if source.SecureProtocol != nil {
		b.set(*source.SecureProtocol, "source", "secureProtocol")
	}
	b.pathPrefix(path, source)
}
