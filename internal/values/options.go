package values

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// DefaultBaseDomain is the base domain of an operator that was given none.
const DefaultBaseDomain = "darkroom.example.com"

// Options are the operator's settings for every Darkroom.
type Options struct {
	// BaseDomain is appended to each sub-domain. Empty means DefaultBaseDomain.
	BaseDomain string
	// IngressClassName is the IngressClass of Darkrooms that name none. Empty
	// leaves it to the cluster's default class.
	IngressClassName string
	// Image replaces the chart's default image; a full reference with a tag, a
	// digest or both. Empty keeps the chart's.
	Image string
	// IngressAnnotations are the annotations that Darkrooms may set on their Ingress: keys,
	// prefixes that end in "*", and DefaultAnnotations. Nil means DefaultAnnotations; an
	// empty list allows none. Keys of Helm and of the operator are never allowed.
	IngressAnnotations []string
}

// Validate returns an error for an invalid option.
func (o Options) Validate() error {
	if o.BaseDomain != "" && (len(validation.IsDNS1123Subdomain(o.BaseDomain)) > 0 || !subDomainFormat.MatchString(o.BaseDomain)) {
		return fmt.Errorf("base domain %q: must be a DNS name such as %s: labels of at most 63 lower-case letters, digits and '-', joined by dots",
			o.BaseDomain, DefaultBaseDomain)
	}
	if problems := validation.IsDNS1123Subdomain(o.IngressClassName); o.IngressClassName != "" && len(problems) > 0 {
		return fmt.Errorf("ingress class %q: must be the name of an IngressClass: %s",
			o.IngressClassName, strings.Join(problems, "; "))
	}
	if o.Image != "" && !parseReference(o.Image).valid() {
		return fmt.Errorf("image %q: must be an image reference without spaces or scheme, such as registry.example.com/team/darkroom:v0.4.2 or …@sha256:…", o.Image)
	}
	_, err := newAllowList(o.IngressAnnotations)
	return err
}
