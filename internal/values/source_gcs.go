package values

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// googleCloudStorage reads images from a bucket of Google Cloud Storage. A
// service account key is only taken by reference, because it is a private key; a
// public bucket needs none.
func (b *builder) googleCloudStorage(path *field.Path, source *v1alpha1.Source) {
	b.bucket(path, source)
	if ref := source.CredentialsSecretRef; ref != nil {
		b.secretReference(path, ref)
		b.setString(ref.CredentialsJSONKey, "source", "credentials", "existingSecret", "credentialsJsonKey")
	}
}
