package values

import (
	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// cloudFront reads images from a CloudFront distribution.
func (b *builder) cloudFront(source *v1alpha1.Source) {
	b.set(source.Host, "source", "host")
	if source.SecureProtocol != nil {
		b.set(*source.SecureProtocol, "source", "secureProtocol")
	}
	b.pathPrefix(source)
}
