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
	absoluteURL  = regexp.MustCompile(`^https?://([^]/?#@:[[:space:][:cntrl:]]+|[[][0-9A-Fa-f:.]+[]])(:[0-9]{1,5})?(/[^?#[:space:][:cntrl:]]*)?$`)
	bucketFormat = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)
	regionFormat = regexp.MustCompile(`^[A-Za-z0-9-]+$`)
	prefixFormat = regexp.MustCompile(`^[^?#[:space:][:cntrl:]]*$`)
)

// shown is what an error message shows of a text that should be an address. People
// put credentials before an "@" and behind a "?", and messages end up in status,
// events and logs.
func shown(text string) string {
	if end := strings.IndexAny(text, "?#"); end >= 0 {
		text = text[:end] + "…"
	}
	if at := strings.LastIndex(text, "@"); at >= 0 {
		text = "…" + text[at:]
	}
	return text
}

// objectName checks a name that may be empty.
func (b *builder) objectName(path *field.Path, name, of string) {
	if name != "" && len(validation.IsDNS1123Subdomain(name)) > 0 {
		b.invalid(path, name, "must be the name of "+of+": lower-case letters, digits, '-' and '.'")
	}
}

func (b *builder) bucket(path *field.Path, source *v1alpha1.Source) {
	path = path.Child("bucket")
	switch {
	case source.Bucket == "":
		b.required(path, "needed when source.type is S3 or GoogleCloudStorage: the name of the bucket")
	case !bucketFormat.MatchString(source.Bucket):
		b.invalid(path, shown(source.Bucket), "must be the name of a bucket: letters, digits, '.', '_' and '-'")
	default:
		b.set(source.Bucket, "source", "bucket", "name")
	}
}

// pathPrefix adds a missing leading slash: without one Darkroom answers 404 to
// every image.
func (b *builder) pathPrefix(path *field.Path, source *v1alpha1.Source) {
	if !prefixFormat.MatchString(source.PathPrefix) {
		b.invalid(path.Child("pathPrefix"), shown(source.PathPrefix), "must be a path such as /uploads, without spaces, '?' or '#'")
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
	}
	b.objectName(path.Child("name"), ref.Name, "a Secret")
	for _, key := range []struct{ field, name string }{
		{"accessKeyKey", ref.AccessKeyKey},
		{"secretKeyKey", ref.SecretKeyKey},
		{"credentialsJsonKey", ref.CredentialsJSONKey},
	} {
		if key.name != "" && len(validation.IsConfigMapKey(key.name)) > 0 {
			b.invalid(path.Child(key.field), key.name, "must be a key of a Secret: letters, digits, '-', '_' and '.'")
		}
	}
	b.set(ref.Name, "source", "credentials", "existingSecret", "name")
}
