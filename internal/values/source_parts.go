package values

import (
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// The formats are those of the CEL rules in the API, with the same dialect (RE2).
var (
	absoluteURL  = regexp.MustCompile(`^https?://[^/?#@[:space:][:cntrl:]]+(/[^?#[:space:][:cntrl:]]*)?$`)
	bucketFormat = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)
	regionFormat = regexp.MustCompile(`^[A-Za-z0-9-]+$`)
	prefixFormat = regexp.MustCompile(`^[^?#[:space:][:cntrl:]]*$`)
	userinfo     = regexp.MustCompile(`//[^/]*@`)
)

// withoutUserinfo drops user and password from a URL before it is shown: people
// put credentials there, and error messages end up in status and logs.
func withoutUserinfo(url string) string {
	return userinfo.ReplaceAllString(url, "//")
}

func (b *builder) bucket(path *field.Path, source *v1alpha1.Source) {
	path = path.Child("bucket")
	switch {
	case source.Bucket == "":
		b.required(path, "needed when source.type is S3 or GoogleCloudStorage: the name of the bucket")
	case !bucketFormat.MatchString(source.Bucket):
		b.invalid(path, source.Bucket, "must be the name of a bucket: letters, digits, '.', '_' and '-'")
	default:
		b.set(source.Bucket, "source", "bucket", "name")
	}
}

// pathPrefix adds a missing leading slash: without one Darkroom answers 404 to
// every picture.
func (b *builder) pathPrefix(path *field.Path, source *v1alpha1.Source) {
	if !prefixFormat.MatchString(source.PathPrefix) {
		b.invalid(path.Child("pathPrefix"), source.PathPrefix, "must be a path such as /uploads, without spaces, '?' or '#'")
		return
	}
	if trimmed := strings.Trim(source.PathPrefix, "/"); trimmed != "" {
		b.set("/"+trimmed, "source", "pathPrefix")
	}
}

func (b *builder) secretReference(path *field.Path, ref *v1alpha1.CredentialsSecretRef) {
	path = path.Child("credentialsSecretRef")
	if ref.Name == "" {
		b.required(path.Child("name"), "the name of a Secret in the Darkroom's namespace")
	} else if len(validation.IsDNS1123Subdomain(ref.Name)) > 0 {
		b.invalid(path.Child("name"), ref.Name, "must be the name of a Secret")
	}
	for name, key := range map[string]string{
		"accessKeyKey":       ref.AccessKeyKey,
		"secretKeyKey":       ref.SecretKeyKey,
		"credentialsJsonKey": ref.CredentialsJSONKey,
	} {
		if key != "" && len(validation.IsConfigMapKey(key)) > 0 {
			b.invalid(path.Child(name), key, "must be a key of a Secret: letters, digits, '-', '_' and '.'")
		}
	}
	b.set(ref.Name, "source", "credentials", "existingSecret", "name")
}
