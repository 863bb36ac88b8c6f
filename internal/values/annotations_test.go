package values

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

func annotated(key string) *darkrooms.Builder {
	return photos().Ingress(v1alpha1.Ingress{Annotations: map[string]string{key: "x"}})
}

// Helm hooks do not belong to the release, so the Ingress would silently be missing.
func TestKeysOfHelmAndOfTheOperatorAreRefusedEverywhere(t *testing.T) {
	podTemplate := func(annotations, labels map[string]string) *darkrooms.Builder {
		return photos().PodTemplate(v1alpha1.PodTemplate{Annotations: annotations, Labels: labels})
	}
	all := newTranslator(t, Options{AllowedAnnotations: []string{"*"}})
	for _, key := range []string{
		"helm.sh/hook", "helm.sh/hook-weight", "helm.sh/resource-policy", "helm.sh/chart", "meta.helm.sh/release-name",
		"x.helm.sh/a", "a.b.helm.sh/c", "HELM.SH/hook", "deployments.example.com/darkroom", "a.deployments.example.com/b",
	} {
		for field, darkroom := range map[string]*darkrooms.Builder{
			"spec.ingress.annotations":     annotated(key),
			"spec.podTemplate.annotations": podTemplate(map[string]string{key: "x"}, nil),
			"spec.podTemplate.labels":      podTemplate(nil, map[string]string{key: "x"}),
		} {
			_, err := all.Values(darkroom.Obj())
			if err == nil || !strings.Contains(err.Error(), field+"["+key+
				"]: Forbidden: keys of helm.sh, deployments.example.com and their subdomains are reserved") {
				t.Errorf("%s[%s]: %v", field, key, err)
			}
		}
	}
	for _, key := range []string{"nothelm.sh/hook", "helm.sh.example.com/hook", "helm.sh", "example.com/helm.sh"} {
		if _, err := all.Values(annotated(key).Obj()); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
	// Nodes may have such labels; no object of the release has them.
	valuesOf(t, photos().PodTemplate(v1alpha1.PodTemplate{
		NodeSelector: map[string]string{"deployments.example.com/pool": "a"},
	}).Obj(), Options{})
}

func TestAnnotationsFollowTheListOfTheAdministrator(t *testing.T) {
	const ttl, alias, authURL = "external-dns.alpha.kubernetes.io/ttl", "nginx.ingress.kubernetes.io/server-alias",
		"nginx.ingress.kubernetes.io/auth-url"
	for name, test := range map[string]struct {
		list                []string
		allowed, notAllowed []string
	}{
		"nothing said":        {nil, []string{ttl}, []string{alias, "example.com/note"}},
		"the default by name": {[]string{"default"}, []string{ttl}, []string{alias}},
		"none":                {[]string{}, nil, []string{ttl, alias}},
		"a key":               {[]string{" " + alias}, []string{alias}, []string{ttl, authURL, alias + "-2"}},
		"a prefix":            {[]string{"nginx.ingress.kubernetes.io/auth-*"}, []string{authURL}, []string{ttl, alias}},
		"all": {
			[]string{"*"},
			[]string{ttl, alias, authURL, "example.com/note"},
			[]string{"kubernetes.io/ingress.class"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			options := Options{AllowedAnnotations: test.list}
			for _, key := range test.allowed {
				got := valuesOf(t, annotated(key).Obj(), options)
				expect.Equal(t, "annotations", map[string]any{key: "x"}, at(got, "ingress", "annotations"))
			}
			for _, key := range test.notAllowed {
				_, err := newTranslator(t, options).Values(annotated(key).Obj())
				if err == nil || !strings.Contains(err.Error(), "spec.ingress.annotations["+key+"]: Forbidden") {
					t.Errorf("%s: want an error, got %v", key, err)
				}
			}
		})
	}
}

func TestListsOfAnnotationsThatCannotBeAreRefused(t *testing.T) {
	for entry, want := range map[string]string{
		"a b":           "must be a key such as",
		"a/b/c":         "must be a key such as",
		"*.io/a":        "must be a key such as",
		"a*b*":          "must be a key such as",
		"helm.sh/hook":  "cannot be allowed",
		"x.helm.sh/*":   "cannot be allowed",
		"Helm.sh/hook*": "cannot be allowed",
	} {
		_, err := New(Options{AllowedAnnotations: []string{"default", entry}})
		if err == nil || !strings.Contains(err.Error(), entry) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: want %q in: %v", entry, want, err)
		}
	}
}

func TestTheDefaultListLeavesNothingToAnAttacker(t *testing.T) {
	allowed, err := newAllowed(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{
		"alb.ingress.kubernetes.io/actions.x", "alb.ingress.kubernetes.io/auth-type",
		"alb.ingress.kubernetes.io/certificate-arn",
		"alb.ingress.kubernetes.io/conditions.x", "alb.ingress.kubernetes.io/group.name",
		"alb.ingress.kubernetes.io/listen-ports",
		"alb.ingress.kubernetes.io/load-balancer-attributes", "alb.ingress.kubernetes.io/scheme",
		"alb.ingress.kubernetes.io/security-groups",
		"alb.ingress.kubernetes.io/ssl-redirect",
		"appgw.ingress.kubernetes.io/appgw-ssl-certificate", "appgw.ingress.kubernetes.io/backend-hostname",
		"appgw.ingress.kubernetes.io/hostname-extension",
		"acme.cert-manager.io/http01-edit-in-place", "cert-manager.io/alt-names", "cert-manager.io/common-name",
		"cert-manager.io/secret-template",
		"cert-manager.io/uri-sans", "cert-manager.io/usages",
		"external-dns.alpha.kubernetes.io/hostname", "external-dns.alpha.kubernetes.io/set-identifier",
		"external-dns.alpha.kubernetes.io/target",
		"haproxy-ingress.github.io/config-backend", "haproxy-ingress.github.io/server-alias",
		"haproxy.org/backend-config-snippet", "haproxy.org/set-host",
		"ingress.gcp.kubernetes.io/pre-shared-cert", "kubernetes.io/ingress.global-static-ip-name",
		"konghq.com/plugins", "zalando.org/skipper-filter", "zalando.org/skipper-routes",
		"nginx.ingress.kubernetes.io/app-root", "nginx.ingress.kubernetes.io/auth-snippet",
		"nginx.ingress.kubernetes.io/auth-url",
		"nginx.ingress.kubernetes.io/canary", "nginx.ingress.kubernetes.io/configuration-snippet",
		"nginx.ingress.kubernetes.io/from-to-www-redirect",
		"nginx.ingress.kubernetes.io/mirror-target", "nginx.ingress.kubernetes.io/permanent-redirect",
		"nginx.ingress.kubernetes.io/rewrite-target",
		"nginx.ingress.kubernetes.io/server-alias", "nginx.ingress.kubernetes.io/server-snippet",
		"nginx.ingress.kubernetes.io/stream-snippet",
		"nginx.ingress.kubernetes.io/upstream-vhost", "nginx.ingress.kubernetes.io/use-regex", "nginx.org/server-snippets",
		"projectcontour.io/tls-cert-namespace", "projectcontour.io/websocket-routes",
		"traefik.ingress.kubernetes.io/router.entrypoints", "traefik.ingress.kubernetes.io/router.middlewares",
		"traefik.ingress.kubernetes.io/router.priority",
		"traefik.ingress.kubernetes.io/router.tls.domains.0.main",
	} {
		if allowed.allows(key) {
			t.Errorf("%s is allowed", key)
		}
	}
	for _, key := range defaultAnnotations {
		if strings.Contains(key, "*") || reserved(key) || key == annotationIngressClass {
			t.Errorf("%s: the default list names whole keys that are not reserved", key)
		}
	}
}

// docs/security.md lists the default with reasons: `key` in the first column of the table
// of allowed annotations.
// It names whole keys: a pattern would allow annotations that were not reviewed.
func TestTheDocumentedDefaultIsTheDefault(t *testing.T) {
	raw, err := os.ReadFile("../../docs/security.md")
	expect.NoError(t, err)
	_, section, found := strings.Cut(string(raw), "### Allowed by default\n")
	if !found {
		t.Fatal("docs/security.md has no section Allowed by default")
	}
	section, _, _ = strings.Cut(section, "\n#")
	var documented []string
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		prefix := regexp.MustCompile("`([^`]*/)`").FindStringSubmatch(cells[1])
		for _, name := range regexp.MustCompile("`([^`]*)`").FindAllStringSubmatch(cells[2], -1) {
			if prefix != nil && !strings.Contains(name[1], "/") {
				name[1] = prefix[1] + name[1]
			}
			documented = append(documented, name[1])
		}
	}
	slices.Sort(documented)
	expect.Equal(t, "the list in docs/security.md", slices.Sorted(slices.Values(defaultAnnotations)), documented)
	for _, key := range defaultAnnotations {
		if strings.Contains(key, "*") || reserved(key) || key == annotationIngressClass {
			t.Errorf("%s: the default list names whole keys that are not reserved", key)
		}
	}
}

// unlisted are the annotations of a Darkroom that do not depend on the administrator's list, with the reason.
var unlisted = map[string]string{
	"spec.podTemplate.annotations": "users who may create a Darkroom may run any pod in its namespace (docs/security.md)",
}

// This test also covers fields that are added to the API later: each map named annotations must either be checked
// against a list of the administrator or be one of the exceptions.
func TestAnnotationsOfEveryFieldFollowTheListOfTheAdministrator(t *testing.T) {
	const dns, note = "external-dns.alpha.kubernetes.io/hostname", "example.com/note"
	translator := newTranslator(t, Options{AllowedAnnotations: []string{"default", note}})
	darkroom := photos().Gateway("public").Obj()
	var found []string
	eachField(reflect.ValueOf(&darkroom.Spec).Elem(), "spec", func(path string, field reflect.Value) {
		if field.Type() != reflect.TypeFor[map[string]string]() || !strings.HasSuffix(strings.ToLower(path), "annotations") {
			return
		}
		found = append(found, path)
		defer field.SetZero()
		set := func(key string) error {
			field.Set(reflect.ValueOf(map[string]string{key: "x"}))
			_, err := translator.Values(darkroom)
			return err
		}
		if err := set(note); err != nil {
			t.Errorf("%s: %s is on the list: %v", path, note, err)
		}
		err := set(dns)
		refused := err != nil && strings.Contains(err.Error(),
			path+"["+dns+"]: Forbidden: not on the operator's list of annotations")
		if _, exempt := unlisted[path]; refused == exempt {
			t.Errorf("%s: %s, exempt %v: %v", path, dns, exempt, err)
		}
	})
	for _, path := range []string{"spec.ingress.annotations", "spec.gateway.annotations", "spec.podTemplate.annotations"} {
		if !slices.Contains(found, path) {
			t.Errorf("%s is not found in the API", path)
		}
	}
}
