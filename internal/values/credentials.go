package values

import (
	"cmp"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// AnnotationCredentials is on the pods of a Darkroom whose sources reference Secrets with their credentials. Its
// value changes when the data that the pods read does, and so the pods are rolled.
const AnnotationCredentials = "checksum/credentials-secret" //nolint:gosec // the name of an annotation

// Keys of the Secret with credentials, unless the Darkroom names others.
const (
	DefaultAccessKeyKey       = "accessKey"
	DefaultSecretKeyKey       = "secretKey"
	DefaultCredentialsJSONKey = "credentials.json"
)

// Credentials are keys of a Secret that the pods of a Darkroom read.
type Credentials struct {
	// Name is the name of the Secret, and Field refers to it.
	Name, Field string
	Keys        []string
}

// CredentialsOf returns the credentials that the sources of a Darkroom refer to, in the order of the sources.
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
