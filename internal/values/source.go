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

// webFolder reads images from an http or https URL. Darkroom concatenates the URL and the
// path of the image, so a trailing slash would be doubled.
func (b *builder) webFolder(source *v1alpha1.Source) {
	b.set(strings.TrimRight(source.BaseURL, "/"), "source", "baseUrl")
}

// s3 reads images from a bucket of Amazon S3 or a compatible service, with inline keys, those
// of a Secret, or the identity of the pods.
func (b *builder) s3(source *v1alpha1.Source) {
	b.set(source.Bucket, "source", "bucket", "name")
	b.set(source.Region, "source", "bucket", "region")
	setNonZero(b, strings.TrimRight(source.Endpoint, "/"), "source", "bucket", "endpoint")
	b.pathPrefix(source)
	if source.Auth != "" {
		b.set(string(source.Auth), "source", "auth")
		return
	}
	if ref := source.CredentialsSecretRef; ref != nil {
		b.set(ref.Name, "source", "credentials", "existingSecret", "name")
		setNonZero(b, ref.AccessKeyKey, "source", "credentials", "existingSecret", "accessKeyKey")
		setNonZero(b, ref.SecretKeyKey, "source", "credentials", "existingSecret", "secretKeyKey")
		return
	}
	b.set(source.AccessKey, "source", "credentials", "accessKey")
	b.set(source.SecretKey, "source", "credentials", "secretKey")
}

// googleCloudStorage reads images from a bucket of Google Cloud Storage. A
// service account key is only taken by reference, because it is a private key; a
// public bucket needs none.
func (b *builder) googleCloudStorage(source *v1alpha1.Source) {
	b.set(source.Bucket, "source", "bucket", "name")
	setNonZero(b, string(source.Auth), "source", "auth")
	if ref := source.CredentialsSecretRef; ref != nil {
		b.set(ref.Name, "source", "credentials", "existingSecret", "name")
		setNonZero(b, ref.CredentialsJSONKey, "source", "credentials", "existingSecret", "credentialsJsonKey")
	}
}

// cloudFront reads images from a CloudFront distribution.
func (b *builder) cloudFront(source *v1alpha1.Source) {
	b.set(source.Host, "source", "host")
	setGiven(b, source.SecureProtocol, "source", "secureProtocol")
	b.pathPrefix(source)
}

// pathPrefix adds a missing leading slash: without one Darkroom answers 404 to
// every image.
func (b *builder) pathPrefix(source *v1alpha1.Source) {
	if trimmed := strings.Trim(source.PathPrefix, "/"); trimmed != "" {
		b.set("/"+trimmed, "source", "pathPrefix")
	}
}
