package values

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/manifests"
)

// hand contains the texts of a Darkroom by field; the author of the Darkroom controls each of them.
type hand map[string]string

// steady is a valid hand.
func steady() hand {
	return hand{
		"name": "photos", "subDomain": "photos", "version": "0.4.2", "repository": "team/darkroom", "logLevel": "info",
		"baseURL": "https://example.com/images", "host": "d1.cloudfront.net", "bucket": "pictures", "region": "eu-west-2",
		"endpoint": "https://minio.example.com", "pathPrefix": "/uploads",
		"accessKey": "AKIAEXAMPLE", "secretKey": "not-a-real-key", "secretName": "keys", "secretNameKey": "id",
		"className": "nginx", "tlsName": "cert", "gateway": "public", "listener": "https", "serviceAccount": "robot",
		"annotationKey": "example.com/note", "annotation": "hello", "label": "a", "paramName": "auto", "param": "compress",
		"envName": "NOTE", "env": "hello",
	}
}

var (
	// fields are the fields of a hand, in a fixed order.
	fields = slices.Sorted(maps.Keys(steady()))
	// free are the fields that may contain any text.
	free = []string{"accessKey", "secretKey", "annotation", "env", "gateway"}
)

// Kinds of Darkrooms that a hand can create.
const (
	webFolder = iota
	s3Inline
	s3Secret
	googleCloudStorage
	cloudFront
	kinds
)

func (h hand) darkroom(kind byte, gateway bool) *v1alpha1.Darkroom {
	darkroom := photos().
		Version(h["version"]).Repository(h["repository"]).SubDomains(h["subDomain"]).
		DefaultParam(h["paramName"], h["param"]).
		Env(h["envName"], h["env"]).
		PodTemplate(v1alpha1.PodTemplate{
			Annotations:        map[string]string{h["annotationKey"]: h["annotation"]},
			Labels:             map[string]string{"team": h["label"]},
			NodeSelector:       map[string]string{"disk": h["label"]},
			ServiceAccountName: h["serviceAccount"],
		}).
		Spec(func(spec *v1alpha1.DarkroomSpec) { spec.LogLevel = v1alpha1.LogLevel(h["logLevel"]) })
	switch kind % kinds {
	case webFolder:
		darkroom.WebFolder(h["baseURL"])
	case s3Inline:
		darkroom.S3(h["bucket"], h["region"]).Endpoint(h["endpoint"]).PathPrefix(h["pathPrefix"]).
			InlineKeys(h["accessKey"], h["secretKey"])
	case s3Secret:
		darkroom.S3(h["bucket"], h["region"]).CredentialsSecret(h["secretName"]).Spec(func(spec *v1alpha1.DarkroomSpec) {
			spec.Source.CredentialsSecretRef.AccessKeyKey = h["secretNameKey"]
		})
	case googleCloudStorage:
		darkroom.GoogleCloudStorage(h["bucket"]).CredentialsSecret(h["secretName"]).Spec(func(spec *v1alpha1.DarkroomSpec) {
			spec.Source.CredentialsSecretRef.CredentialsJSONKey = h["secretNameKey"]
		})
	case cloudFront:
		darkroom.CloudFront(h["host"]).PathPrefix(h["pathPrefix"])
	}
	if gateway {
		darkroom.Spec(func(spec *v1alpha1.DarkroomSpec) {
			spec.Gateway = &v1alpha1.Gateway{
				ParentRefs:  []v1alpha1.ParentRef{{Name: h["gateway"], SectionName: h["listener"]}},
				Annotations: map[string]string{h["annotationKey"]: h["annotation"]},
			}
		})
	} else {
		darkroom.Ingress(v1alpha1.Ingress{
			ClassName: h["className"], TLSSecretName: h["tlsName"],
			Annotations: map[string]string{h["annotationKey"]: h["annotation"]},
		})
	}
	out := darkroom.Obj()
	out.Name = h["name"]
	return out
}

// additional returns a Darkroom with the source as an additional one.
func (h hand) additional(kind byte) *v1alpha1.Darkroom {
	out := h.darkroom(kind, false)
	out.Spec.Gate = &v1alpha1.Gate{}
	out.Spec.AdditionalSources = []v1alpha1.AdditionalSource{{Name: "other", Path: "/other", Source: out.Spec.Source}}
	out.Spec.Source = v1alpha1.Source{Type: v1alpha1.WebFolder, BaseURL: "https://example.com"}
	return out
}

// hostile are texts with a special meaning in templates, YAML, Kubernetes or Darkroom.
var hostile = []string{
	"", " ", "{{ .Release.Name }}", "{{ fail `x` }}", "{{- range",
	"\n---\nkind: ClusterRole\nmetadata: {name: a}\n", "a\n  b: c",
	"a: b", "a #b", "# a", `"`, `'`, `\`, "`", "- a", "*a", "&a", "!!binary a", "%YAML", "|", ">", "?", "{a: b}",
	"[a]", "~", "null", "true", "on",
	"0x10", "1e3", "1_000", "012", "2026-01-01", ".inf", "=", "<<", "a=b;c", "a\tb", "\ta", " a", "a ", "\n", "\na", "a\n",
	"a\n\n", "  a\n b\n", "a\r\nb",
	"\x00", "\x7f", "\u0085", "\u00a0", "\u2028", "\ufeff", "\U0001f4f7", "DEBUG", "helm.sh/hook", "Helm.sh/hook-weight",
	"x.helm.sh/a", "nginx.ingress.kubernetes.io/server-alias", "cert-manager.io/issuer",
	strings.Repeat("a b ", 200), strings.Repeat("a", 300),
}

// FuzzTranslate: for any input, the translation ends in a refusal that
// names fields or in values; those the chart takes, or refuses by its schema; and
// what it renders holds each text where it belongs, and nothing more. With -short a
// quarter of the texts are seeds.
func FuzzTranslate(f *testing.F) {
	add := func(h hand, kind byte, gateway bool) {
		var texts []string
		for _, field := range fields {
			texts = append(texts, h[field])
		}
		f.Add(strings.Join(texts, between), kind, gateway)
	}
	for kind := range byte(kinds) {
		add(steady(), kind, false)
		add(steady(), kind, true)
	}
	for i, text := range hostile {
		if testing.Short() && i%4 != 0 {
			continue
		}
		// Fields that accept any text, all at once.
		h := steady()
		for _, field := range free {
			h[field] = text
		}
		add(h, s3Inline, false)
		add(h, s3Inline, true)
		// The other fields one at a time, because the refusal of one would hide the others;
		// a third of the texts for each, because each takes some milliseconds.
		for n := i % 3; n < len(fields); n += 3 {
			if field := fields[n]; !slices.Contains(free, field) {
				h := steady()
				h[field] = text
				add(h, kindOfText(field, i), false)
			}
		}
	}
	f.Fuzz(func(t *testing.T, texts string, kind byte, gateway bool) {
		h := steady()
		// Resources come as JSON, which holds nothing but UTF-8.
		for i, text := range strings.Split(strings.ToValidUTF8(texts, "\ufffd"), between) {
			if i < len(fields) {
				h[fields[i]] = text
			}
		}
		checkTranslation(t, h, kind%kinds, gateway)
	})
}

// between separates the texts of a hand.
const between = "\x1f"

// lenient translates everything that may be translated.
var lenient = Options{BaseDomains: []string{"example.net"}, AllowedAnnotations: []string{"*"}}

// kindOfText is a kind of Darkroom that uses the text of a field.
func kindOfText(field string, otherwise int) byte {
	switch field {
	case "baseURL":
		return webFolder
	case "host":
		return cloudFront
	case "bucket", "region", "endpoint", "pathPrefix", "accessKey", "secretKey":
		return s3Inline
	case "secretName", "secretNameKey":
		return s3Secret
	}
	return byte(otherwise % kinds)
}

func checkTranslation(t *testing.T, h hand, kind byte, gateway bool) {
	t.Helper()
	darkroom := h.darkroom(kind, gateway)
	values, err := newTranslator(t, lenient).Values(darkroom)
	var invalid *InvalidError
	switch {
	case errors.As(err, &invalid) && len(invalid.Fields) > 0:
		return
	case err != nil:
		t.Fatalf("refused without a field: %v", err)
	}
	chrt, err := darkroomChart()
	expect.NoError(t, err)
	manifest, err := tryRender(chrt, darkroom, values)
	if err != nil {
		if !strings.Contains(err.Error(), "values don't meet the specifications of the schema(s)") &&
			!strings.Contains(err.Error(), "release name") {
			t.Fatalf("translated but not rendered: %v", err)
		}
		return
	}
	decoded, err := manifests.DecodeStrictly(manifest)
	expect.NoError(t, err)
	checkMarks(t, decoded)
	// Annotations that the default list does not allow are never part of the values.
	_, err = newTranslator(t, Options{BaseDomains: lenient.BaseDomains}).Values(darkroom)
	if err == nil && !slices.Contains(defaultAnnotations, h["annotationKey"]) {
		t.Errorf("the annotation %s is translated but not on the default list", h["annotationKey"])
	}
	expect.Equal(t, "name", any(h["name"]), values["fullnameOverride"])
	expect.Equal(t, "common labels", any(map[string]any{v1alpha1.LabelDarkroom: h["name"]}), values["commonLabels"])
	usual, got := steadyShape(t, kind, gateway), shapeOf(t, decoded)
	expect.Equal(t, "objects", usual.kinds, got.kinds)
	config := configIn(t, decoded)
	for _, name := range got.settings {
		if !slices.Contains(usual.settings, name) {
			t.Errorf("the setting %s is new", name)
		}
	}
	expect.Equal(t, "default parameters", h["paramName"]+"="+h["param"], config["DEFAULTPARAMS"])
	s3 := map[string]string{"SOURCE_BUCKET_NAME": h["bucket"], "SOURCE_BUCKET_REGION": h["region"]}
	for name, want := range []map[string]string{
		webFolder: {"SOURCE_BASEURL": strings.TrimRight(h["baseURL"], "/")}, s3Inline: s3, s3Secret: s3,
		googleCloudStorage: {"SOURCE_BUCKET_NAME": h["bucket"]}, cloudFront: {"SOURCE_HOST": h["host"]},
	}[kind] {
		expect.Equal(t, name, want, config[name])
	}

	deployment := deploymentIn(t, decoded)
	pods := deployment.Spec.Template
	variables := pods.Spec.Containers[0].Env
	expect.Equal(t, "variable", corev1.EnvVar{Name: h["envName"], Value: h["env"]}, variables[len(variables)-1])
	for i, variable := range variables[:len(variables)-1] {
		if !slices.Contains(usual.variables, variable.Name) {
			t.Errorf("the variable %s is new", variable.Name)
		}
		if from := variables[i].ValueFrom; from != nil && kind != s3Inline {
			expect.Equal(t, "Secret of "+variable.Name, h["secretName"], from.SecretKeyRef.Name)
		}
	}
	expect.Equal(t, "label", h["label"], pods.Labels["team"])
	// The last of its document, at whose end Helm trims.
	expect.Equal(t, "node selector", strings.TrimRightFunc(h["label"], unicode.IsSpace),
		strings.TrimRightFunc(pods.Spec.NodeSelector["disk"], unicode.IsSpace))
	expect.Equal(t, "annotation of the pods", h["annotation"], pods.Annotations[h["annotationKey"]])
	account := h["serviceAccount"]
	if account == "" {
		account = h["name"]
	}
	expect.Equal(t, "ServiceAccount", account, pods.Spec.ServiceAccountName)
	repository, tag, _ := strings.Cut(strings.TrimPrefix(pods.Spec.Containers[0].Image, h["repository"]), ":")
	if h["repository"] != "" {
		expect.Equal(t, "repository", "", repository)
	}
	if h["version"] != "" {
		expect.Equal(t, "tag", strings.TrimPrefix(strings.ReplaceAll(h["version"], "+", "-"), "v"),
			strings.TrimPrefix(tag, "v"))
	}
	if kind == s3Inline {
		expect.Equal(t, "Secret", map[string][]byte{"accessKey": []byte(h["accessKey"]), "secretKey": []byte(h["secretKey"])},
			manifests.Only[*corev1.Secret](t, decoded).Data)
	}

	host := h["subDomain"] + ".example.net"
	if gateway {
		object := manifests.Only[*gatewayv1.HTTPRoute](t, decoded)
		expect.Equal(t, "annotations of the HTTPRoute", map[string]string{h["annotationKey"]: h["annotation"]},
			object.Annotations)
		route := object.Spec
		expect.Equal(t, "hosts", []gatewayv1.Hostname{gatewayv1.Hostname(host)}, route.Hostnames)
		expect.Equal(t, "Gateway", h["gateway"], string(route.ParentRefs[0].Name))
		if h["listener"] != "" {
			expect.Equal(t, "listener", h["listener"], string(ptr.Deref(route.ParentRefs[0].SectionName, "")))
		}
		return
	}
	ingress := manifests.Only[*networkingv1.Ingress](t, decoded)
	expect.Equal(t, "annotations of the Ingress", map[string]string{h["annotationKey"]: h["annotation"]},
		ingress.Annotations)
	expect.Equal(t, "host", host, ingress.Spec.Rules[0].Host)
	if h["className"] != "" {
		expect.Equal(t, "class", h["className"], ptr.Deref(ingress.Spec.IngressClassName, ""))
	}
	if h["tlsName"] != "" {
		expect.Equal(t, "TLS", []networkingv1.IngressTLS{{Hosts: []string{host}, SecretName: h["tlsName"]}}, ingress.Spec.TLS)
	}
}

// checkMarks wants no object marked as Helm's hook or kept by Helm, but for the chart's own test.
func checkMarks(t *testing.T, objects []client.Object) {
	t.Helper()
	for _, object := range objects {
		for key := range object.GetAnnotations() {
			if reserved(key) && object.GetLabels()["app.kubernetes.io/component"] != "test" {
				t.Errorf("%T %s has the annotation %s", object, object.GetName(), key)
			}
		}
	}
}

// shape is what texts must not change of a manifest: the kinds of its objects, except the
// ServiceAccount, and the names of settings and variables.
type shape struct{ kinds, settings, variables []string }

// configIn is Darkroom's configuration.
func configIn(t *testing.T, objects []client.Object) map[string]string {
	t.Helper()
	return manifests.Only[*corev1.ConfigMap](t, objects).Data
}

func shapeOf(t *testing.T, decoded []client.Object) shape {
	t.Helper()
	out := shape{settings: slices.Sorted(maps.Keys(configIn(t, decoded)))}
	for _, object := range decoded {
		if _, optional := object.(*corev1.ServiceAccount); !optional {
			out.kinds = append(out.kinds, fmt.Sprintf("%T %s", object, object.GetNamespace()))
		}
	}
	slices.Sort(out.kinds)
	for _, variable := range deploymentIn(t, decoded).Spec.Template.Spec.Containers[0].Env {
		out.variables = append(out.variables, variable.Name)
	}
	return out
}

// shapes are the shapes that the steady hand makes, by kind and way of routing.
var shapes sync.Map

func steadyShape(t *testing.T, kind byte, gateway bool) shape {
	t.Helper()
	key := fmt.Sprint(kind, gateway)
	if known, found := shapes.Load(key); found {
		return known.(shape)
	}
	decoded := render(t, steady().darkroom(kind, gateway), lenient)
	known := shapeOf(t, decoded)
	shapes.Store(key, known)
	return known
}
