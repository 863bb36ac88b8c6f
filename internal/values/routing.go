package values

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// maxRouteHosts is how many hosts an HTTPRoute can hold (Gateway API v1).
const maxRouteHosts = 16

// routing has the hosts routed by an Ingress, or by an HTTPRoute when the
// Darkroom names Gateways.
func (b *builder) routing(spec *v1alpha1.DarkroomSpec, options Options, allowed allowList) {
	if spec.NetworkPolicy != nil && spec.NetworkPolicy.Enabled {
		b.set(true, "networkPolicy", "enabled")
	}
	if spec.Gateway != nil {
		if spec.Ingress != nil {
			b.errs = append(b.errs, field.Forbidden(specPath.Child("gateway"), "ingress and gateway exclude each other: set one of them"))
		}
		if len(spec.SubDomains) > maxRouteHosts {
			b.errs = append(b.errs, field.TooMany(specPath.Child("subDomains"), len(spec.SubDomains), maxRouteHosts))
		}
		b.gateway(spec.Gateway)
		return
	}

	ingress := spec.Ingress
	if ingress == nil {
		ingress = &v1alpha1.Ingress{}
	}
	className := ingress.ClassName
	if className == "" {
		className = options.IngressClassName
	}
	path := specPath.Child("ingress")
	b.objectName(path.Child("className"), ingress.ClassName, "an IngressClass")
	b.objectName(path.Child("tlsSecretName"), ingress.TLSSecretName, "a Secret")
	b.setString(className, "ingress", "className")
	b.setString(ingress.TLSSecretName, "ingress", "tlsSecretName")
	if len(ingress.Annotations) > 0 {
		b.ingressAnnotations(path.Child("annotations"), ingress.Annotations, allowed)
		b.setPlain(ingress.Annotations, path.Child("annotations"), "ingress", "annotations")
	}
}

func (b *builder) gateway(gateway *v1alpha1.Gateway) {
	path := specPath.Child("gateway", "parentRefs")
	if len(gateway.ParentRefs) == 0 {
		b.required(path, "at least one Gateway, for example [{name: public}]")
	}
	for i, ref := range gateway.ParentRefs {
		if ref.Name == "" {
			b.required(path.Index(i).Child("name"), "the name of a Gateway")
		}
		b.objectName(path.Index(i).Child("sectionName"), ref.SectionName, "a listener")
	}
	b.sections(path, gateway.ParentRefs)
	b.set(false, "ingress", "enabled")
	b.set(true, "gateway", "enabled")
	b.setPlain(gateway.ParentRefs, path, "gateway", "parentRefs")
}

// sections refuses what the Gateway API refuses of several references to one Gateway:
// each must name a listener, and each another one.
func (b *builder) sections(path *field.Path, refs []v1alpha1.ParentRef) {
	for i, ref := range refs {
		for _, earlier := range refs[:i] {
			switch {
			case ref.Name != earlier.Name || ref.Namespace != earlier.Namespace:
			case ref.SectionName == earlier.SectionName:
				b.errs = append(b.errs, field.Duplicate(path.Index(i), ref.Name))
			case ref.SectionName == "" || earlier.SectionName == "":
				b.invalid(path.Index(i), ref.Name, "the Gateway is referenced more than once: name a different listener in the sectionName of each reference")
			}
		}
	}
}
