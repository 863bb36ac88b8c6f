package values

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// DefaultAnnotations is an entry of Options.AllowedAnnotations that is replaced by all of defaultAnnotations.
const DefaultAnnotations = "default"

// defaultAnnotations are annotations of common ingress controllers that tenants may safely set. The operator writes
// Ingresses, HTTPRoutes and Services with its own permissions, and controllers that tenants share read them. Therefore
// each of these annotations
//   - affects only the hosts of the object, or a load balancer created for it alone;
//   - cannot add a host, path, backend, listener, address or DNS record;
//   - neither configures authentication nor references an object in another namespace, except
//     for a ClusterIssuer, which itself decides what to sign;
//   - has a value that the controller parses (a number, size, duration, boolean or list of
//     addresses) and does not copy into its configuration.
//
// docs/security.md gives the reasons for each controller. A test compares its table with this list.
var defaultAnnotations = []string{
	// cert-manager
	"cert-manager.io/cluster-issuer",
	"cert-manager.io/issuer",
	"kubernetes.io/tls-acme",
	// ExternalDNS
	"external-dns.alpha.kubernetes.io/ttl",
	// ingress-nginx
	"nginx.ingress.kubernetes.io/client-body-buffer-size",
	"nginx.ingress.kubernetes.io/enable-cors",
	"nginx.ingress.kubernetes.io/force-ssl-redirect",
	"nginx.ingress.kubernetes.io/limit-burst-multiplier",
	"nginx.ingress.kubernetes.io/limit-connections",
	"nginx.ingress.kubernetes.io/limit-rpm",
	"nginx.ingress.kubernetes.io/limit-rps",
	"nginx.ingress.kubernetes.io/proxy-body-size",
	"nginx.ingress.kubernetes.io/proxy-buffer-size",
	"nginx.ingress.kubernetes.io/proxy-connect-timeout",
	"nginx.ingress.kubernetes.io/proxy-read-timeout",
	"nginx.ingress.kubernetes.io/proxy-send-timeout",
	"nginx.ingress.kubernetes.io/ssl-redirect",
	"nginx.ingress.kubernetes.io/whitelist-source-range",
	// Traefik
	"traefik.ingress.kubernetes.io/router.tls",
	// HAProxy Technologies
	"haproxy.org/rate-limit-period",
	"haproxy.org/rate-limit-requests",
	"haproxy.org/ssl-redirect",
	"haproxy.org/timeout-server",
	// HAProxy Ingress
	"haproxy-ingress.github.io/limit-connections",
	"haproxy-ingress.github.io/limit-rps",
	"haproxy-ingress.github.io/proxy-body-size",
	"haproxy-ingress.github.io/ssl-redirect",
	"haproxy-ingress.github.io/timeout-server",
	// Contour
	"ingress.kubernetes.io/force-ssl-redirect",
	"projectcontour.io/num-retries",
	"projectcontour.io/per-try-timeout",
	"projectcontour.io/response-timeout",
	// AWS Load Balancer Controller
	"alb.ingress.kubernetes.io/healthcheck-interval-seconds",
	"alb.ingress.kubernetes.io/healthcheck-path",
	"alb.ingress.kubernetes.io/healthcheck-timeout-seconds",
	"alb.ingress.kubernetes.io/healthy-threshold-count",
	"alb.ingress.kubernetes.io/success-codes",
	"alb.ingress.kubernetes.io/target-group-attributes",
	"alb.ingress.kubernetes.io/target-type",
	"alb.ingress.kubernetes.io/unhealthy-threshold-count",
	// Google Kubernetes Engine
	"kubernetes.io/ingress.allow-http",
	"networking.gke.io/managed-certificates",
	// Azure Application Gateway
	"appgw.ingress.kubernetes.io/connection-draining",
	"appgw.ingress.kubernetes.io/connection-draining-timeout",
	"appgw.ingress.kubernetes.io/request-timeout",
	"appgw.ingress.kubernetes.io/ssl-redirect",
}

// annotationIngressClass is the deprecated way to set a class. The API server rejects it in combination with
// spec.ingressClassName.
const annotationIngressClass = "kubernetes.io/ingress.class"

// allowList is a set of annotations.
type allowList struct {
	keys     map[string]bool
	prefixes []string
}

// newAllowed parses the entries of Options.AllowedAnnotations.
func newAllowed(entries []string) (allowList, error) {
	keys := slices.Clone(entries)
	if entries == nil || slices.ContainsFunc(entries, isDefault) {
		keys = append(slices.DeleteFunc(keys, isDefault), defaultAnnotations...)
	}
	return newAllowList("allowed annotation", keys, func(key string) string {
		if reserved(key) {
			return "cannot be allowed because Helm and the operator identify their objects by it"
		}
		return ""
	})
}

func isDefault(entry string) bool { return strings.TrimSpace(entry) == DefaultAnnotations }

// newAllowList parses entries: keys, and prefixes that end in "*". refusal returns the reason why a key or prefix is
// not allowed; empty if it is allowed.
func newAllowList(what string, entries []string, refusal func(string) string) (allowList, error) {
	list := allowList{keys: map[string]bool{}}
	for _, entry := range entries {
		entry = strings.TrimSpace(entry)
		key, isPrefix := strings.CutSuffix(entry, "*")
		refused := refusal(key)
		switch {
		case entry == "":
		case refused != "":
			return allowList{}, fmt.Errorf("%s %q: %s", what, entry, refused)
		case strings.Contains(key, "*"), !isPrefix && len(validation.IsQualifiedName(strings.ToLower(key))) > 0:
			return allowList{}, fmt.Errorf("%s %q: must be a key such as example.com/team, or a prefix that ends in '*'",
				what, entry)
		case isPrefix:
			list.prefixes = append(list.prefixes, key)
		default:
			list.keys[key] = true
		}
	}
	return list, nil
}

func (l allowList) allows(key string) bool {
	return l.keys[key] || slices.ContainsFunc(l.prefixes,
		func(prefix string) bool { return strings.HasPrefix(key, prefix) })
}

// sharedAnnotations checks and sets annotations of an object that is read by controllers shared between tenants.
// Annotations of pods are not restricted, because users who may create a Darkroom can run any pod in its namespace.
func (b *builder) sharedAnnotations(path *field.Path, annotations map[string]string, allowed allowList, to ...string) {
	if len(annotations) == 0 {
		return
	}
	b.annotations(path, annotations)
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		switch {
		case reserved(key), len(validation.IsQualifiedName(strings.ToLower(key))) > 0: // already rejected by b.annotations
		case key == annotationIngressClass:
			b.forbidden(path.Key(key), "deprecated: set spec.ingress.className instead")
		case !allowed.allows(key):
			b.forbidden(path.Key(key),
				"not on the operator's list of annotations: annotations can add routes, or configure a controller that others "+
					"share; remove it, or ask the administrator to allow it with --ingress-annotations")
		}
	}
	b.setPlain(annotations, path, to...)
}

// reservedDomains are prefixes of keys, including subdomains, that Helm or the operator interpret. For example,
// helm.sh/hook removes an object from the release, and helm.sh/resource-policy keeps it after an uninstall.
var reservedDomains = []string{"helm.sh", "meta.helm.sh", v1alpha1.GroupVersion.Group}

// reserved reports whether a key of an annotation or label is reserved for Helm or the operator.
func reserved(key string) bool {
	prefix, _, prefixed := strings.Cut(strings.ToLower(key), "/")
	if !prefixed {
		return false
	}
	return slices.ContainsFunc(reservedDomains, func(domain string) bool {
		return prefix == domain || strings.HasSuffix(prefix, "."+domain)
	})
}

const reservedDetail = "keys of helm.sh, deployments.example.com and their subdomains are reserved: Helm and the " +
	"operator identify their objects by them; remove it"

// annotations checks the keys of a rendered object's annotations. The API server would also reject them, but without
// naming the field of the Darkroom.
func (b *builder) annotations(path *field.Path, annotations map[string]string) {
	size := 0
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		size += len(key) + len(annotations[key])
		// The API server also accepts upper case in the prefix.
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

// labels checks the keys and values of a rendered object's labels.
func (b *builder) labels(path *field.Path, labels map[string]string) {
	b.nodeLabels(path, labels)
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if reserved(key) {
			b.forbidden(path.Key(key), reservedDetail)
		}
	}
}

// nodeLabels checks labels for selecting nodes. No keys are reserved for these.
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

// objectName checks the name of an object; it may be empty.
func (b *builder) objectName(path *field.Path, name, of string) {
	if name != "" && len(validation.IsDNS1123Subdomain(name)) > 0 {
		b.invalid(path, name, "must be the name of "+of+": lower-case letters, digits, '-' and '.'")
	}
}
