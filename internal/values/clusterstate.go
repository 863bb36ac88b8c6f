package values

import (
	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// annotationCredentials is on the pods of a Darkroom that references a Secret. Its
// value changes when the data that the pods read does, and so the pods are rolled.
const annotationCredentials = "checksum/credentials-secret" //nolint:gosec // the name of an annotation

// Circumstances are what the cluster adds to a Darkroom. The zero value adds
// nothing, as for a preview.
type Circumstances struct {
	// RefusedHosts belong to other Darkrooms, and are not routed to this one.
	RefusedHosts []string
	// CredentialsVersion is the version of the referenced Secret at which its data
	// last changed. It must disclose nothing of the data: pods are public. Empty means that no Secret is referenced, or that nothing is known of it.
	CredentialsVersion string
}

// Values returns the chart values of a Darkroom: only what differs from the
// chart's defaults, in the plain types of JSON. The error is an *InvalidError
// that names every wrong field.
func (t *Translator) Values(darkroom *v1alpha1.Darkroom) (chartutil.Values, error) {
	return t.ValuesUnder(darkroom, Circumstances{})
}

// CredentialsSecret is the name of the Secret that the pods of a Darkroom read
// credentials from; empty where the Darkroom references none.
func CredentialsSecret(source *v1alpha1.Source) string {
	ref := source.CredentialsSecretRef
	if ref == nil || source.Type != v1alpha1.S3 && source.Type != v1alpha1.GoogleCloudStorage {
		return ""
	}
	return ref.Name
}

// CredentialsKeys are the keys that the pods need of that Secret.
func CredentialsKeys(source *v1alpha1.Source) []string {
	or := func(key, otherwise string) string {
		if key == "" {
			return otherwise
		}
		return key
	}
	switch ref := source.CredentialsSecretRef; {
	case ref == nil:
		return nil
	case source.Type == v1alpha1.S3:
		return []string{or(ref.AccessKeyKey, "accessKey"), or(ref.SecretKeyKey, "secretKey")}
	case source.Type == v1alpha1.GoogleCloudStorage:
		return []string{or(ref.CredentialsJSONKey, "credentials.json")}
	}
	return nil
}

// CredentialsVersion reads back from the annotations of pods what
// Circumstances.CredentialsVersion they were made with.
func CredentialsVersion(podAnnotations map[string]string) string {
	return podAnnotations[annotationCredentials]
}
