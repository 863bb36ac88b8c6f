package values

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// DefaultBaseDomain is the default of Options.BaseDomains.
const DefaultBaseDomain = "darkroom.example.com"

// Options are the operator's settings for every Darkroom.
type Options struct {
	// BaseDomains are the domains that may be appended to the sub-domains of a Darkroom. The first is the default, and
	// a Darkroom may choose another. "{namespace}" is replaced by the namespace of the Darkroom. Nil means
	// DefaultBaseDomain.
	BaseDomains []string
	// IngressClassName is the IngressClass for Darkrooms that do not set one. Empty means the cluster's default class.
	IngressClassName string
	// Image replaces the chart's default image. It is a full reference with a tag, a digest or both. Empty keeps the
	// chart's image.
	Image string
	// GateImage replaces the chart's image of the gate. It is a full reference. Empty keeps the chart's image.
	GateImage string
	// ImagePullSecrets are the names of Secrets with registry credentials, for Darkrooms that do not set any. They are
	// read from the namespace of the Darkroom.
	ImagePullSecrets []string
	// AllowedAnnotations are the annotations that Darkrooms may set on objects read by controllers that tenants share,
	// such as Ingresses and HTTPRoutes: keys, prefixes that end in "*", and DefaultAnnotations. Nil means
	// DefaultAnnotations; an empty list allows none. Keys of Helm and of the operator are never allowed.
	AllowedAnnotations []string
	// InheritLabels and InheritAnnotations are the labels and annotations of a Darkroom that its objects and pods
	// inherit: keys, and prefixes that end in "*".
	InheritLabels, InheritAnnotations []string
	// ReservedHosts are hosts that no Darkroom may claim: names, and "*." followed by a domain for all hosts below it.
	ReservedHosts []string
	// Proxy is the proxy for requests to sources, unless a Darkroom sets the variables itself. The zero value means
	// none.
	Proxy Proxy
}

// Proxy contains the values of the variables HTTP_PROXY, HTTPS_PROXY and NO_PROXY of a pod. Empty values are not set.
type Proxy struct {
	// HTTP and HTTPS are the URLs of the proxies for http and https requests.
	HTTP, HTTPS string
	// No is a comma-separated list of hosts, domains and networks that are reached without a proxy.
	No string
}

// validate returns an error for an invalid option.
func (o Options) validate() error {
	if len(o.BaseDomains) == 0 {
		return errors.New("base domains: at least one is required")
	}
	for _, domain := range o.BaseDomains {
		if !isBaseDomain(domain) {
			return fmt.Errorf(
				"base domain %q: must be a DNS name such as %s: labels of at most 63 lower-case letters, digits and '-', joined "+
					"by dots; the first may be %s",
				domain, DefaultBaseDomain, placeholder)
		}
	}
	if problems := validation.IsDNS1123Subdomain(o.IngressClassName); o.IngressClassName != "" && len(problems) > 0 {
		return fmt.Errorf("ingress class %q: must be the name of an IngressClass: %s",
			o.IngressClassName, strings.Join(problems, "; "))
	}
	if o.Image != "" && !parseReference(o.Image).valid() {
		return fmt.Errorf(
			"image %q: must be an image reference without spaces or scheme, such as "+
				"registry.example.com/team/darkroom:v0.4.2 or …@sha256:…", o.Image,
		)
	}
	if o.GateImage != "" && !parseReference(o.GateImage).valid() {
		return fmt.Errorf("image of the gate %q: must be an image reference without spaces or scheme, with a tag or digest",
			o.GateImage)
	}
	for _, name := range o.ImagePullSecrets {
		if problems := validation.IsDNS1123Subdomain(name); len(problems) > 0 {
			return fmt.Errorf("image pull secret %q: must be the name of a Secret: %s", name, strings.Join(problems, "; "))
		}
	}
	for _, proxy := range []string{o.Proxy.HTTP, o.Proxy.HTTPS} {
		// The value is not quoted, because it may contain a password.
		if hasCredentials(proxy) {
			return errors.New("the proxy URL contains credentials, which would be readable in every Darkroom's ConfigMap: " +
				"remove it, and set HTTPS_PROXY in the Darkrooms' extraEnvFrom")
		}
	}
	return o.validateReserved()
}

func (o Options) validateReserved() error {
	for _, host := range o.ReservedHosts {
		if !subDomainFormat.MatchString(strings.TrimPrefix(host, "*.")) {
			return fmt.Errorf(
				"reserved host %q: must be a host such as www.example.com, or *.example.com for all hosts below "+
					"example.com, in lower case", host,
			)
		}
	}
	return nil
}

func isBaseDomain(domain string) bool {
	if rest, divided := strings.CutPrefix(domain, placeholder+"."); divided {
		domain = "n." + rest
	}
	return len(validation.IsDNS1123Subdomain(domain)) == 0 && subDomainFormat.MatchString(domain)
}

// ProxyOf returns the proxy of a process with these environment variables. It omits URLs with credentials and returns
// the names of their variables. getenv is os.Getenv or a similar function.
func ProxyOf(getenv func(string) string) (proxy Proxy, left []string) {
	take := func(name string) string {
		value := getenv(name)
		if hasCredentials(value) {
			left = append(left, name)
			return ""
		}
		return value
	}
	proxy = Proxy{HTTP: take("HTTP_PROXY"), HTTPS: take("HTTPS_PROXY"), No: getenv("NO_PROXY")}
	return proxy, left
}

// hasCredentials reports whether a proxy URL, with or without a scheme, may contain credentials.
func hasCredentials(proxy string) bool { return strings.Contains(proxy, "@") }
