package values

import (
	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// googleCloudStorage reads images from a bucket of Google Cloud Storage. A
// service account key is only taken by reference, because it is a private key; a
// public bucket needs none.
func (b *builder) googleCloudStorage(source *v1alpha1.Source) {
	b.set(source.Bucket, "source", "bucket", "name")
	b.setString(string(source.Auth), "source", "auth")
	if ref := source.CredentialsSecretRef; ref != nil {
		b.set(ref.Name, "source", "credentials", "existingSecret", "name")
		b.setString(ref.CredentialsJSONKey, "source", "credentials", "existingSecret", "credentialsJsonKey")
	}
}
