package values

import (
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// maxRepository is the maximum length of a repository. Container runtimes accept 255 characters, including
// docker.io/library/, which they add if the reference has no registry.
const maxRepository = 255 - len("docker.io/library/")

var (
	repositoryFormat = regexp.MustCompile(
		`^([a-zA-Z0-9]+(([.]|-+)[a-zA-Z0-9]+)*(:[0-9]{1,5})?/)?[a-z0-9]+(([._/]|__|-+)[a-z0-9]+)*$`)
	// Container runtimes accept 128 characters, but the chart may prepend a v.
	tagFormat    = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,126}$`)
	digestFormat = regexp.MustCompile(`^sha256:[a-f0-9]{64}$`)
)

// image sets repository, tag, digest and pull secrets. Fields of the Darkroom take precedence over the operator's
// image, and the operator's image over the chart's. The tag and digest of the operator's image belong to its
// repository, so a Darkroom with its own repository or version does not use them.
func (b *builder) image(spec *v1alpha1.DarkroomSpec, options Options) {
	image := spec.Image
	if image == nil {
		image = &v1alpha1.Image{}
	}
	path := specPath.Child("image", "pullSecrets")
	repository, tag, digest := image.Repository, spec.Version, ""
	if repository == "" && options.Image != "" {
		reference := parseReference(options.Image)
		repository = reference.repository
		if tag == "" {
			tag, digest = reference.tag, reference.digest
		}
	}
	setNonZero(b, repository, "image", "repository")
	setNonZero(b, tag, "image", "tag")
	setNonZero(b, digest, "image", "digest")
	setNonZero(b, string(image.PullPolicy), "image", "pullPolicy")
	secrets := image.PullSecrets
	if len(secrets) == 0 {
		for _, name := range options.ImagePullSecrets {
			secrets = append(secrets, corev1.LocalObjectReference{Name: name})
		}
	}
	for i, secret := range image.PullSecrets {
		if secret.Name == "" {
			b.errs = append(b.errs, field.Required(path.Index(i).Child("name"),
				"must be the name of a Secret with registry credentials"))
		}
	}
	b.setPlain(secrets, path, "image", "pullSecrets")
}

type reference struct {
	repository, tag, digest string
}

// valid reports whether this is a valid reference; tag and digest are optional.
func (r reference) valid() bool {
	return len(r.repository) <= maxRepository && repositoryFormat.MatchString(r.repository) &&
		(r.tag == "" || tagFormat.MatchString(r.tag)) &&
		(r.digest == "" || digestFormat.MatchString(r.digest))
}

// parseReference splits repository[:tag][@digest]. A colon before the last slash separates the port of a registry.
func parseReference(image string) reference {
	var r reference
	image, r.digest, _ = strings.Cut(image, "@")
	r.repository = image
	if colon := strings.LastIndex(image, ":"); colon > strings.LastIndex(image, "/") {
		r.repository, r.tag = image[:colon], image[colon+1:]
	}
	return r
}
