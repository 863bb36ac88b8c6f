package values

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// s3 reads images from a bucket of Amazon S3 or a compatible service.
func (b *builder) s3(path *field.Path, source *v1alpha1.Source) {
	b.bucket(path, source)
	switch {
	case source.Region == "":
		b.required(path.Child("region"), "needed when source.type is S3, for example eu-west-2")
	case !regionFormat.MatchString(source.Region):
		b.invalid(path.Child("region"), shown(source.Region), "must be a region, for example eu-west-2")
	}
	b.setString(source.Region, "source", "bucket", "region")
	if source.Endpoint != "" && !absoluteURL.MatchString(source.Endpoint) {
		b.invalid(path.Child("endpoint"), shown(source.Endpoint), "must be an absolute http or https URL, for example https://minio.example.com:9000")
	}
	b.setString(strings.TrimRight(source.Endpoint, "/"), "source", "bucket", "endpoint")
	b.pathPrefix(path, source)
	b.s3Credentials(path, source)
}

// s3Credentials takes exactly one of inline keys and a reference.
func (b *builder) s3Credentials(path *field.Path, source *v1alpha1.Source) {
	inline := source.AccessKey != "" || source.SecretKey != ""
	switch ref := source.CredentialsSecretRef; {
	case ref != nil && inline:
		b.errs = append(b.errs, field.Forbidden(path.Child("credentialsSecretRef"),
			"inline keys and credentialsSecretRef are mutually exclusive: remove accessKey and secretKey"))
	case ref != nil:
		b.secretReference(path, ref)
		b.setString(ref.AccessKeyKey, "source", "credentials", "existingSecret", "accessKeyKey")
		b.setString(ref.SecretKeyKey, "source", "credentials", "existingSecret", "secretKeyKey")
	case !inline:
		b.required(path.Child("credentialsSecretRef"), "S3 needs credentials: name a Secret here, or set accessKey and secretKey")
	case source.AccessKey == "":
		b.required(path.Child("accessKey"), "accessKey and secretKey must be set together: set both, or use credentialsSecretRef instead")
	case source.SecretKey == "":
		b.required(path.Child("secretKey"), "accessKey and secretKey must be set together: set both, or use credentialsSecretRef instead")
	default:
		b.set(source.AccessKey, "source", "credentials", "accessKey")
		b.set(source.SecretKey, "source", "credentials", "secretKey")
	}
}
