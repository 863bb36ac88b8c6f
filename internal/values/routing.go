package values

import (
	"cmp"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// routing routes the hosts by an Ingress, by an HTTPRoute when the Darkroom names
// Gateways, or by both when it sets both.
func (b *builder) routing(spec *v1alpha1.DarkroomSpec, options Options, allowed allowList) {
	if spec.Service != nil {
		b.service(spec.Service, allowed)
	}
	b.setTrue(spec.NetworkPolicy != nil && spec.NetworkPolicy.Enabled, "networkPolicy", "enabled")
	if spec.Gateway != nil {
		b.gateway(spec.Gateway, allowed)
		b.set(spec.Ingress != nil, "ingress", "enabled")
		if spec.Ingress == nil {
			return
		}
	}

	ingress := spec.Ingress
	if ingress == nil {
		ingress = &v1alpha1.Ingress{}
	}
	path := specPath.Child("ingress")
	b.objectName(path.Child("className"), ingress.ClassName, "an IngressClass")
	b.objectName(path.Child("tlsSecretName"), ingress.TLSSecretName, "a Secret")
	b.setString(cmp.Or(ingress.ClassName, options.IngressClassName), "ingress", "className")
	b.setString(ingress.TLSSecretName, "ingress", "tlsSecretName")
	b.sharedAnnotations(path.Child("annotations"), ingress.Annotations, allowed, "ingress", "annotations")
}

func (b *builder) service(service *v1alpha1.Service, allowed allowList) {
	b.setString(string(service.IPFamilyPolicy), "service", "ipFamilyPolicy")
	b.setString(service.TrafficDistribution, "service", "trafficDistribution")
	b.sharedAnnotations(specPath.Child("service", "annotations"), service.Annotations, allowed, "service", "annotations")
}

func (b *builder) gateway(gateway *v1alpha1.Gateway, allowed allowList) {
	path := specPath.Child("gateway")
	b.parents(path.Child("parentRefs"), gateway.ParentRefs)
	b.set(true, "gateway", "enabled")
	b.sharedAnnotations(path.Child("annotations"), gateway.Annotations, allowed, "gateway", "annotations")
	if gateway.Timeouts != nil {
		b.setString(gateway.Timeouts.Request, "gateway", "timeouts", "request")
	}
}

func (b *builder) parents(path *field.Path, refs []v1alpha1.ParentRef) {
	for i, ref := range refs {
		b.objectName(path.Index(i).Child("sectionName"), ref.SectionName, "a listener")
	}
	b.setPlain(refs, path, "gateway", "parentRefs")
}
