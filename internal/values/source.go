package values

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// translations maps each kind of source to its translation.
var translations = map[v1alpha1.SourceType]func(*builder, *v1alpha1.Source){
	v1alpha1.WebFolder:          (*builder).webFolder,
	v1alpha1.S3:                 (*builder).s3,
	v1alpha1.GoogleCloudStorage: (*builder).googleCloudStorage,
	v1alpha1.CloudFront:         (*builder).cloudFront,
}

// sources sets the values of the source and the additional sources.
func (b *builder) sources(spec *v1alpha1.DarkroomSpec) {
	b.set(b.source(&spec.Source, specPath.Child("source")).values, "source")
	var additional []any
	for i := range spec.AdditionalSources {
		source := &spec.AdditionalSources[i]
		item := b.source(&source.Source, specPath.Child("additionalSources").Index(i))
		item.set(source.Name, "name")
		setNonZero(item, source.Path, "path")
		setNonZero(item, source.StripPath, "stripPath")
		setNonZero(item, source.Fallback, "fallback")
		additional = append(additional, item.values)
	}
	if additional != nil {
		b.set(additional, "additionalSources")
	}
}

// source returns the values of one source. Fields of other kinds are ignored, so that a resource can be switched
// between kinds and back.
func (b *builder) source(source *v1alpha1.Source, path *field.Path) *builder {
	item := &builder{values: map[string]any{}}
	kind := cmp.Or(source.Type, v1alpha1.WebFolder)
	translate, known := translations[kind]
	if !known {
		b.errs = append(b.errs, field.NotSupported(path.Child("type"), kind, slices.Sorted(maps.Keys(translations))))
		return item
	}
	item.set(string(kind), "type")
	translate(item, source)
	if kind, name, key := CABundle(source); name != "" {
		item.set(string(kind), "caBundle", "kind")
		item.set(name, "caBundle", "name")
		item.set(key, "caBundle", "key")
	}
	b.errs = append(b.errs, item.errs...)
	return item
}

// webFolder reads images from an http or https URL. Darkroom concatenates the URL and the path of the image, so a
// trailing slash is removed.
func (b *builder) webFolder(source *v1alpha1.Source) {
	b.set(strings.TrimRight(source.BaseURL, "/"), "baseUrl")
}

// s3 reads images from a bucket of Amazon S3 or a compatible service, with inline keys, keys from a Secret, or the
// identity of the pods.
func (b *builder) s3(source *v1alpha1.Source) {
	b.set(source.Bucket, "bucket", "name")
	b.set(source.Region, "bucket", "region")
	setNonZero(b, strings.TrimRight(source.Endpoint, "/"), "bucket", "endpoint")
	b.pathPrefix(source)
	if source.Auth != "" {
		b.set(string(source.Auth), "auth")
		return
	}
	if ref := source.CredentialsSecretRef; ref != nil {
		b.set(ref.Name, "credentials", "existingSecret", "name")
		setNonZero(b, ref.AccessKeyKey, "credentials", "existingSecret", "accessKeyKey")
		setNonZero(b, ref.SecretKeyKey, "credentials", "existingSecret", "secretKeyKey")
		return
	}
	b.set(source.AccessKey, "credentials", "accessKey")
	b.set(source.SecretKey, "credentials", "secretKey")
}

// googleCloudStorage reads images from a bucket of Google Cloud Storage. A service account key is a private key and is
// accepted only by reference; a public bucket needs none.
func (b *builder) googleCloudStorage(source *v1alpha1.Source) {
	b.set(source.Bucket, "bucket", "name")
	setNonZero(b, string(source.Auth), "auth")
	if ref := source.CredentialsSecretRef; ref != nil {
		b.set(ref.Name, "credentials", "existingSecret", "name")
		setNonZero(b, ref.CredentialsJSONKey, "credentials", "existingSecret", "credentialsJsonKey")
	}
}

// cloudFront reads images from a CloudFront distribution.
func (b *builder) cloudFront(source *v1alpha1.Source) {
	b.set(source.Host, "host")
	setGiven(b, source.SecureProtocol, "secureProtocol")
	b.pathPrefix(source)
}

// pathPrefix adds a missing leading slash, without which Darkroom responds with 404 to every request.
func (b *builder) pathPrefix(source *v1alpha1.Source) {
	if trimmed := strings.Trim(source.PathPrefix, "/"); trimmed != "" {
		b.set("/"+trimmed, "pathPrefix")
	}
}

// AnnotationCredentials is an annotation of the pods of a Darkroom whose sources reference Secrets. Its value changes
// with the data that the pods read, so that a change rolls the pods.
const AnnotationCredentials = "checksum/credentials-secret" //nolint:gosec // an annotation, not a credential

// Default keys in a Secret with credentials.
const (
	DefaultAccessKeyKey       = "accessKey"
	DefaultSecretKeyKey       = "secretKey"
	DefaultCredentialsJSONKey = "credentials.json"
)

// Credentials are the keys of a Secret that the pods of a Darkroom read.
type Credentials struct {
	// Name is the name of the Secret, and Field the field that references it.
	Name, Field string
	Keys        []string
}

// CredentialsOf returns the credentials that the sources of a Darkroom reference, in the order of the sources.
func CredentialsOf(spec *v1alpha1.DarkroomSpec) (found []Credentials) {
	for source, path := range spec.Sources() {
		ref := source.CredentialsSecretRef
		if ref == nil {
			continue
		}
		switch path += ".credentialsSecretRef"; source.Type {
		case v1alpha1.S3:
			keys := []string{cmp.Or(ref.AccessKeyKey, DefaultAccessKeyKey), cmp.Or(ref.SecretKeyKey, DefaultSecretKeyKey)}
			found = append(found, Credentials{ref.Name, path, keys})
		case v1alpha1.GoogleCloudStorage:
			found = append(found, Credentials{
				ref.Name, path,
				[]string{cmp.Or(ref.CredentialsJSONKey, DefaultCredentialsJSONKey)},
			})
		}
	}
	return found
}
