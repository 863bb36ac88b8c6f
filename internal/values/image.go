package values

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

var (
	versionFormat    = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.+-]{0,127}$`)
	repositoryFormat = regexp.MustCompile(`^([a-zA-Z0-9.-]+(:[0-9]+)?/)?[a-z0-9]+([._/-]+[a-z0-9]+)*$`)
	digestFormat     = regexp.MustCompile(`^sha256:[a-f0-9]{64}$`)

	pullPolicies = []corev1.PullPolicy{corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever}
)

// image chooses repository, tag, digest and pull secrets. The Darkroom's fields take precedence over the
// operator's image, and that over the chart's. The tag and digest of the operator's image
// belong to its repository: a Darkroom that names a repository or a version of its own does
// not get them.
func (b *builder) image(spec *v1alpha1.DarkroomSpec, options Options) {
	image := spec.Image
	if image == nil {
		image = &v1alpha1.Image{}
	}
	b.checkImage(spec.Version, image)
	path := specPath.Child("image")
	repository, tag, digest := image.Repository, spec.Version, ""
	if repository == "" && options.Image != "" {
		reference := parseReference(options.Image)
		repository = reference.repository
		if tag == "" {
			tag, digest = reference.tag, reference.digest
		}
	}
	b.setString(repository, "image", "repository")
	b.setString(tag, "image", "tag")
	b.setString(digest, "image", "digest")
	b.setString(string(image.PullPolicy), "image", "pullPolicy")
	secrets := image.PullSecrets
	if len(secrets) == 0 {
		for _, name := range options.ImagePullSecrets {
			secrets = append(secrets, corev1.LocalObjectReference{Name: name})
		}
	}
	if len(secrets) > 0 {
		duplicates(b, path.Child("pullSecrets"), secrets, func(secret corev1.LocalObjectReference) string { return secret.Name })
		b.setPlain(secrets, path.Child("pullSecrets"), "image", "pullSecrets")
	}
}

// checkImage validates the version and the fields of the image.
func (b *builder) checkImage(version string, image *v1alpha1.Image) {
	if version != "" && !versionFormat.MatchString(version) {
		b.invalid(specPath.Child("version"), version, "must be a version such as 0.4.2 or an image tag")
	}
	path := specPath.Child("image")
	if image.Repository != "" && !repositoryFormat.MatchString(image.Repository) {
		b.invalid(path.Child("repository"), image.Repository,
			"must be a repository such as registry.example.com/team/darkroom, without a tag: the tag is spec.version")
	}
	if image.PullPolicy != "" && !slices.Contains(pullPolicies, image.PullPolicy) {
		b.errs = append(b.errs, field.NotSupported(path.Child("pullPolicy"), image.PullPolicy, pullPolicies))
	}
	for i, secret := range image.PullSecrets {
		if secret.Name == "" {
			b.required(path.Child("pullSecrets").Index(i).Child("name"), "the name of a Secret with registry credentials")
		}
	}
}

type reference struct {
	repository, tag, digest string
}

// valid reports whether the parts are a valid reference with a tag, a digest or both.
func (r reference) valid() bool {
	return repositoryFormat.MatchString(r.repository) &&
		(r.tag == "" || versionFormat.MatchString(r.tag)) &&
		(r.digest == "" || digestFormat.MatchString(r.digest))
}

// parseReference splits repository[:tag][@digest]. A colon before the last slash
// is the port of a registry.
func parseReference(image string) reference {
	var r reference
	image, r.digest, _ = strings.Cut(image, "@")
	r.repository = image
	if colon := strings.LastIndex(image, ":"); colon > strings.LastIndex(image, "/") {
		r.repository, r.tag = image[:colon], image[colon+1:]
	}
	return r
}
