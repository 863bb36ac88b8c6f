package values

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// sources has the translation of each kind of source.
var sources = map[v1alpha1.SourceType]func(*builder, *v1alpha1.Source){
	v1alpha1.WebFolder:          (*builder).webFolder,
	v1alpha1.S3:                 (*builder).s3,
	v1alpha1.GoogleCloudStorage: (*builder).googleCloudStorage,
	v1alpha1.CloudFront:         (*builder).cloudFront,
}

// source writes the values of the source's own kind. Fields of other kinds are
// ignored, so that a resource can be switched back and forth.
func (b *builder) source(source *v1alpha1.Source) {
	kind := cmp.Or(source.Type, v1alpha1.WebFolder)
	translate, known := sources[kind]
	if !known {
		b.errs = append(b.errs, field.NotSupported(specPath.Child("source", "type"), kind, slices.Sorted(maps.Keys(sources))))
		return
	}
	b.set(string(kind), "source", "type")
	translate(b, source)
}

// pathPrefix adds a missing leading slash: without one Darkroom answers 404 to
// every image.
func (b *builder) pathPrefix(source *v1alpha1.Source) {
	if trimmed := strings.Trim(source.PathPrefix, "/"); trimmed != "" {
		b.set("/"+trimmed, "source", "pathPrefix")
	}
}
