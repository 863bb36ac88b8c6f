package values

import (
	"maps"
	"slices"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// reservedDomains are prefixes of keys, with their subdomains, that mean something to
// Helm or to the operator. An annotation helm.sh/hook takes its object out of the
// release, and helm.sh/resource-policy keeps it when the release goes.
var reservedDomains = []string{"helm.sh", "meta.helm.sh", v1alpha1.GroupVersion.Group}

// reserved reports whether an annotation or label of a rendered object belongs to Helm
// or to the operator.
func reserved(key string) bool {
	prefix, _, prefixed := strings.Cut(strings.ToLower(key), "/")
	if !prefixed {
		return false
	}
	return slices.ContainsFunc(reservedDomains, func(domain string) bool {
		return prefix == domain || strings.HasSuffix(prefix, "."+domain)
	})
}

const reservedDetail = "keys of helm.sh, deployments.example.com and their subdomains are reserved: Helm and the operator identify their objects by them; remove it"

// annotations checks the keys of annotations of a rendered object. The API server would
// reject them too, but would not name the field of the Darkroom.
func (b *builder) annotations(path *field.Path, annotations map[string]string) {
	size := 0
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		size += len(key) + len(annotations[key])
		// As the API server does: the prefix may be upper-case.
		if problems := validation.IsQualifiedName(strings.ToLower(key)); len(problems) > 0 {
			b.invalid(path.Key(key), key, "must be the key of an annotation, for example example.com/note: "+problems[0])
		}
		if reserved(key) {
			b.forbidden(path.Key(key), reservedDetail)
		}
	}
	if size > apivalidation.TotalAnnotationSizeLimitB {
		b.errs = append(b.errs, field.TooLong(path, "", apivalidation.TotalAnnotationSizeLimitB))
	}
}

// labels checks labels of a rendered object, keys and values.
func (b *builder) labels(path *field.Path, labels map[string]string) {
	b.nodeLabels(path, labels)
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if reserved(key) {
			b.forbidden(path.Key(key), reservedDetail)
		}
	}
}

// nodeLabels checks labels that nodes are selected by. No key is reserved there.
func (b *builder) nodeLabels(path *field.Path, labels map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if problems := validation.IsQualifiedName(key); len(problems) > 0 {
			b.invalid(path.Key(key), key, "must be the key of a label, for example example.com/team: "+problems[0])
		}
		if problems := validation.IsValidLabelValue(labels[key]); len(problems) > 0 {
			b.invalid(path.Key(key), labels[key], "must be the value of a label: "+problems[0])
		}
	}
}

// objectName checks a name that may be empty.
func (b *builder) objectName(path *field.Path, name, of string) {
	if name != "" && len(validation.IsDNS1123Subdomain(name)) > 0 {
		b.invalid(path, name, "must be the name of "+of+": lower-case letters, digits, '-' and '.'")
	}
}
