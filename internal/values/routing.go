package values

import (
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// maxRouteHosts is how many hosts an HTTPRoute can hold (Gateway API v1).
const maxRouteHosts = 16

var ipFamilyPolicies = []corev1.IPFamilyPolicy{
	corev1.IPFamilyPolicySingleStack, corev1.IPFamilyPolicyPreferDualStack, corev1.IPFamilyPolicyRequireDualStack,
}

var trafficDistributions = []string{
	corev1.ServiceTrafficDistributionPreferClose, corev1.ServiceTrafficDistributionPreferSameZone, corev1.ServiceTrafficDistributionPreferSameNode,
}

// gatewayDuration is the format of durations in the Gateway API.
var gatewayDuration = regexp.MustCompile(`^([0-9]{1,5}(h|m|s|ms)){1,4}$`)

// routing routes the hosts by an Ingress, by an HTTPRoute when the Darkroom names
// Gateways, or by both when it sets both.
func (b *builder) routing(spec *v1alpha1.DarkroomSpec, options Options, allowed allowList) {
	if spec.Service != nil {
		b.service(spec.Service, allowed)
	}
	if spec.NetworkPolicy != nil && spec.NetworkPolicy.Enabled {
		b.set(true, "networkPolicy", "enabled")
	}
	if spec.Gateway != nil {
		if len(spec.SubDomains) > maxRouteHosts {
			b.errs = append(b.errs, field.TooMany(specPath.Child("subDomains"), len(spec.SubDomains), maxRouteHosts))
		}
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
	className := ingress.ClassName
	if className == "" {
		className = options.IngressClassName
	}
	path := specPath.Child("ingress")
	b.objectName(path.Child("className"), ingress.ClassName, "an IngressClass")
	b.objectName(path.Child("tlsSecretName"), ingress.TLSSecretName, "a Secret")
	b.setString(className, "ingress", "className")
	b.setString(ingress.TLSSecretName, "ingress", "tlsSecretName")
	b.sharedAnnotations(path.Child("annotations"), ingress.Annotations, allowed, "ingress", "annotations")
}

func (b *builder) service(service *v1alpha1.Service, allowed allowList) {
	path := specPath.Child("service")
	if policy := service.IPFamilyPolicy; policy != "" {
		if !slices.Contains(ipFamilyPolicies, policy) {
			b.errs = append(b.errs, field.NotSupported(path.Child("ipFamilyPolicy"), policy, ipFamilyPolicies))
		}
		b.set(string(policy), "service", "ipFamilyPolicy")
	}
	if distribution := service.TrafficDistribution; distribution != "" {
		if !slices.Contains(trafficDistributions, distribution) {
			b.errs = append(b.errs, field.NotSupported(path.Child("trafficDistribution"), distribution, trafficDistributions))
		}
		b.set(distribution, "service", "trafficDistribution")
	}
	b.sharedAnnotations(path.Child("annotations"), service.Annotations, allowed, "service", "annotations")
}

func (b *builder) gateway(gateway *v1alpha1.Gateway, allowed allowList) {
	path := specPath.Child("gateway")
	b.parents(path.Child("parentRefs"), gateway.ParentRefs)
	b.set(true, "gateway", "enabled")
	b.sharedAnnotations(path.Child("annotations"), gateway.Annotations, allowed, "gateway", "annotations")
	if gateway.Timeouts != nil && gateway.Timeouts.Request != "" {
		request := gateway.Timeouts.Request
		if !gatewayDuration.MatchString(request) {
			b.invalid(path.Child("timeouts", "request"), request, "must be a duration of the Gateway API, for example 10s or 1m30s")
		}
		b.set(request, "gateway", "timeouts", "request")
	}
}

func (b *builder) parents(path *field.Path, refs []v1alpha1.ParentRef) {
	if len(refs) == 0 {
		b.required(path, "at least one Gateway, for example [{name: public}]")
	}
	for i, ref := range refs {
		if ref.Name == "" {
			b.required(path.Index(i).Child("name"), "the name of a Gateway")
		}
		b.objectName(path.Index(i).Child("sectionName"), ref.SectionName, "a listener")
	}
	b.sections(path, refs)
	b.setPlain(refs, path, "gateway", "parentRefs")
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
