package values

import (
	"cmp"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// AnnotationCredentials is an annotation of the pods of a Darkroom whose sources reference Secrets. Its value changes
// with the data that the pods read, so that a change rolls the pods.
const AnnotationCredentials = "checksum/credentials-secret" //nolint:gosec // the name of an annotation

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
