package values

import (
	"strings"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// s3 reads images from a bucket of Amazon S3 or a compatible service, with inline keys, those
// of a Secret, or the identity of the pods.
func (b *builder) s3(source *v1alpha1.Source) {
	b.set(source.Bucket, "source", "bucket", "name")
	b.set(source.Region, "source", "bucket", "region")
	b.setString(strings.TrimRight(source.Endpoint, "/"), "source", "bucket", "endpoint")
	b.pathPrefix(source)
	if source.Auth != "" {
		b.set(string(source.Auth), "source", "auth")
		return
	}
	if ref := source.CredentialsSecretRef; ref != nil {
		b.set(ref.Name, "source", "credentials", "existingSecret", "name")
		b.setString(ref.AccessKeyKey, "source", "credentials", "existingSecret", "accessKeyKey")
		b.setString(ref.SecretKeyKey, "source", "credentials", "existingSecret", "secretKeyKey")
		return
	}
	b.set(source.AccessKey, "source", "credentials", "accessKey")
	b.set(source.SecretKey, "source", "credentials", "secretKey")
}
