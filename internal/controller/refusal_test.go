package controller_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// TestBadResourcesAreRefusedWithTheFieldAndTheRemedy checks the errors that `kubectl apply` prints. The rules are part
// of the CRD, so no operator runs here.
func TestBadResourcesAreRefusedWithTheFieldAndTheRemedy(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	// Each of these specs would be valid without the given fields.
	source := func(fields string) string { return `{source: {` + fields + `}, subDomains: [a]}` }
	s3 := func(fields string) string { return source("type: S3, bucket: b, region: r, " + fields) }
	folder := func(url string) string { return source(`baseUrl: "` + url + `"`) }
	hosts := func(list string) string {
		return `{source: {baseUrl: "https://example.com"}, subDomains: ` + list + `}`
	}
	with := func(field string) string {
		return `{` + field + `, source: {baseUrl: "https://example.com"}, subDomains: [a]}`
	}
	probe := func(path string) string { return with(`probe: {path: "` + path + `"}`) }
	refuses := func(field, remedy string, specs ...string) {
		for _, spec := range specs {
			t.Run(field+" "+remedy+" "+spec, func(t *testing.T) {
				t.Parallel()
				isRefused(t, namespace, "photos", spec, field+":", remedy)
			})
		}
	}
	refuses("spec.source", "Required value", `{subDomains: [a]}`)
	refuses("spec.source.baseUrl",
		"Required value: needed when source.type is WebFolder, for example https://example.com/images",
		source("type: WebFolder"), folder(""))
	refuses("spec.source.baseUrl", "must be an absolute http or https URL", folder("/images"),
		folder("example.com/images"), folder("ftp://example.com"), folder(`https://example.com/\nDEBUG: true`))
	refuses("spec.source.baseUrl", "without user", folder("https://me:secret@example.com"))
	refuses("spec.source.type",
		`Unsupported value: "FTP": supported values: "WebFolder", "S3", "GoogleCloudStorage", "CloudFront"`,
		source("type: FTP"))

	refuses("spec.source.bucket", "Required value: needed when source.type is S3",
		source("type: S3, region: r, accessKey: a, secretKey: s"))
	refuses("spec.source.region", "Required value: needed when source.type is S3, for example eu-west-2",
		source("type: S3, bucket: b, accessKey: a, secretKey: s"))
	refuses("spec.source.credentialsSecretRef",
		"Required value: S3 needs credentials: name a Secret here, or set accessKey and secretKey", s3(""))
	refuses("spec.source.secretKey", "accessKey and secretKey must be set together", s3("accessKey: a"))
	refuses("spec.source.auth", "requires gate", s3("auth: WorkloadIdentity"))
	refuses("spec.source.auth", "replaces credentials",
		strings.Replace(s3("auth: WorkloadIdentity, credentialsSecretRef: {name: keys}"), "{", "{gate: {}, ", 1))
	refuses("spec.source.caBundleRef", "requires gate", source(`baseUrl: "https://example.com", caBundleRef: {name: ca}`))
	refuses("spec.source.caBundleRef.kind", `"ConfigMap", "Secret"`,
		source(`baseUrl: "https://example.com", caBundleRef: {kind: Pod, name: ca}`))
	refuses("spec.source.credentialsSecretRef", "inline keys and credentialsSecretRef are mutually exclusive",
		s3("accessKey: a, secretKey: s, credentialsSecretRef: {name: keys}"))
	refuses("spec.source.endpoint", "for example https://minio.example.com:9000",
		s3(`endpoint: "minio:9000", credentialsSecretRef: {name: keys}`))
	refuses("spec.source.pathPrefix", "must be a path such as /uploads",
		s3(`pathPrefix: "/a?b", credentialsSecretRef: {name: keys}`))
	refuses("spec.source.credentialsSecretRef.name", "Required value", s3("credentialsSecretRef: {}"))
	refuses("spec.source.bucket", "Required value", source("type: GoogleCloudStorage"))
	refuses("spec.source.host", "Required value: needed when source.type is CloudFront", source("type: CloudFront"))
	refuses("spec.source.host", "without scheme or path", source(`type: CloudFront, host: "https://d1.cloudfront.net"`))

	preset := func(parameters string) string { return with(`gate: {presets: {thumb: "` + parameters + `"}}`) }
	refuses("spec.gate.presets[thumb]", "must be URL parameters of Darkroom, dpr or q", preset("width=200"),
		preset("w=200&"), preset("w=200&&h=9"), preset("w"), preset("w=1&H=2"),
		preset("w=0"), preset("w=200&fit=fill"), preset("q=101"), preset("dpr=6"))
	refuses("spec.gate.presets", "must not exceed limits.maxWidth and limits.maxHeight", preset("w=5000"),
		with(`gate: {limits: {maxHeight: 100}, presets: {thumb: "h=101"}}`))
	refuses("spec.defaultParams", "must have valid values", with(`gate: {}, defaultParams: {fit: fill}`),
		with(`gate: {}, defaultParams: {w: "5000"}`))

	more := func(sources string) string {
		return `{gate: {}, source: {type: S3, bucket: b, region: r, auth: WorkloadIdentity},
			subDomains: [a], additionalSources: [` + sources + `]}`
	}
	const a, google = `{name: a, path: /a, baseUrl: "https://example.com"}`,
		"type: GoogleCloudStorage, bucket: b, fallback: true"
	refuses("spec.additionalSources", "requires gate", strings.Replace(more(a), "gate: {}, ", "", 1))
	refuses("spec.additionalSources[0].path", "needed unless fallback is set",
		more(`{name: a, baseUrl: "https://example.com"}`))
	refuses("spec.additionalSources[0].path", "must be a path such as /products/shoes",
		more(strings.Replace(a, "/a", "a", 1)),
		more(strings.Replace(a, "/a", "/a/", 1)), more(strings.Replace(a, "/a", "/a/../b", 1)))
	refuses("spec.additionalSources[0].stripPath", "requires path",
		more(`{name: a, fallback: true, stripPath: true, baseUrl: "https://example.com"}`))
	refuses("spec.additionalSources", "each path must be used by one source only",
		more(a+", "+strings.Replace(a, "name: a", "name: b", 1)))
	refuses("spec.additionalSources[1]", "Duplicate value", more(a+", "+a))
	refuses("spec.additionalSources[0].name", "must consist of lower-case letters",
		more(strings.Replace(a, "name: a", "name: A", 1)))
	refuses("spec.additionalSources[0].baseUrl", "Required value: needed when source.type is WebFolder",
		more(`{name: a, path: /a}`))
	refuses("spec.additionalSources[0].credentialsSecretRef", "S3 needs credentials",
		more(`{name: a, path: /a, type: S3, bucket: b, region: r}`))
	refuses("spec.additionalSources", "source.auth and additionalSources[].auth: the pods have one workload identity",
		more("{name: a, auth: WorkloadIdentity, "+google+"}"),
		strings.Replace(more("{name: a, auth: WorkloadIdentity, "+google+
			"}, {name: b, fallback: true, type: S3, bucket: b, region: r, auth: WorkloadIdentity}"), "auth: WorkloadIdentity",
			"credentialsSecretRef: {name: keys}", 1))

	refuses("spec.subDomains", "Required value", `{source: {baseUrl: "https://example.com"}}`)
	refuses("spec.subDomains", "should have at least 1 items", hosts("[]"))
	refuses("spec.subDomains[2]", `Duplicate value: "a"`, hosts("[a, b, a]"))
	refuses("spec.subDomains[0]", "must be a DNS name", hosts("[Photos]"), hosts("[a/b]"), hosts("[a., b]"),
		hosts("["+strings.Repeat("a", 64)+"]"))

	refuses("spec.logLevel", `Unsupported value: "verbose"`, with("logLevel: verbose"))
	refuses("spec.autoscaling.minReplicas", "must not exceed maxReplicas",
		with("autoscaling: {minReplicas: 5, maxReplicas: 2}"))
	refuses("spec.replicas", "greater than or equal to 0", with("replicas: -1"))
	refuses("spec.gateway.timeouts.request", "for example 10s",
		with("gateway: {parentRefs: [{name: g}], timeouts: {request: 1.5s}}"))
	refuses("spec.gateway.parentRefs", "at least 1 items", with("gateway: {parentRefs: []}"))
	refuses("spec.gateway.parentRefs", "a Gateway is referenced more than once",
		with("gateway: {parentRefs: [{name: a}, {name: b, namespace: gateways}, {name: b, namespace: gateways}]}"),
		with("gateway: {parentRefs: [{name: a}, {name: a, sectionName: https}]}"))
	refuses("spec.extraEnv", "DEBUG is not allowed: it exposes profiling",
		with(`extraEnv: [{name: DEBUG, value: "true"}]`))
	refuses("spec.extraEnv[1]", "Duplicate value", with("extraEnv: [{name: A}, {name: A}]"))
	refuses("spec.version", "must be a version such as 0.4.2 or an image tag", with(`version: "1 2"`))
	refuses("spec.image.repository", "the tag is spec.version", with(`image: {repository: "me/darkroom:latest"}`))
	refuses("spec.image.pullSecrets[2]", "Duplicate value",
		with("image: {pullSecrets: [{name: a}, {name: b}, {name: a}]}"))
	refuses("spec.defaultParams[auto]", "must not contain ';'", with(`defaultParams: {auto: "compress;w=1"}`))
	refuses("spec.ingress.annotations", "keys of helm.sh and deployments.example.com are reserved",
		with("ingress: {annotations: {helm.sh/hook: test}}"),
		with("ingress: {annotations: {a: b, meta.helm.sh/release-name: other}}"))
	refuses("spec.gateway.annotations", "are reserved",
		with("gateway: {parentRefs: [{name: g}], annotations: {helm.sh/hook: x}}"),
		with("gateway: {parentRefs: [{name: g}], annotations: {meta.helm.sh/release-name: x}}"),
		with("gateway: {parentRefs: [{name: g}], annotations: {deployments.example.com/darkroom: x}}"))
	refuses("spec.podTemplate.annotations", "are reserved",
		with("podTemplate: {annotations: {helm.sh/resource-policy: keep}}"))
	refuses("spec.podTemplate.labels", "are reserved",
		with("podTemplate: {labels: {deployments.example.com/darkroom: other}}"))
	refuses("spec.podTemplate.topologySpreadConstraints[1]", "Duplicate value",
		with(
			"podTemplate: {topologySpreadConstraints: [{topologyKey: z, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}, "+
				"{topologyKey: z, maxSkew: 2, whenUnsatisfiable: DoNotSchedule}]}",
		))
	refuses("spec.metrics.serviceMonitor", "requires metrics.enabled: true", with("metrics: {serviceMonitor: true}"))

	refuses("spec.probe.path", "Required value", with("probe: {}"))
	refuses("spec.probe.path", "must start with '/', for example /photos/cat.jpg", probe("cat.jpg"))
	refuses("spec.probe.path", "must be a path without '?' or '#'", probe("/cat.jpg?w=9"), probe("/cat.jpg#top"))
	refuses("spec.probe.path", "must not contain control characters", probe(`/cat\n.jpg`))
	refuses("spec.probe.path", "must not contain empty, '.' or '..' segments", probe("/a/../../secret"), probe("/a/.."),
		probe("//cat.jpg"))
	refuses("spec.probe.path", "must be no longer than 1024 bytes", probe("/"+strings.Repeat("ä", 512)))
	refuses("spec.probe.path", "/ping and /metrics respond even when no image can be served", probe("/ping"),
		probe("/metrics"))
	refuses("spec.probe.periodSeconds", "greater than or equal to 10", with("probe: {path: /cat.jpg, periodSeconds: 9}"))
	refuses("spec.probe.timeoutSeconds", "must not exceed periodSeconds",
		with("probe: {path: /cat.jpg, periodSeconds: 10, timeoutSeconds: 11}"))
	refuses("spec.probe.timeoutSeconds", "less than or equal to 60",
		with("probe: {path: /cat.jpg, periodSeconds: 90, timeoutSeconds: 61}"))
	refuses("spec.probe.failureThreshold", "greater than or equal to 1",
		with("probe: {path: /cat.jpg, failureThreshold: 0}"))
	for name, remedy := range map[string]string{
		strings.Repeat("a", 54): "metadata.name must be no longer than 53 characters",
		"2026-photos":           "metadata.name must start with a letter",
		"photos.team":           "metadata.name must start with a letter",
	} {
		isRefused(t, namespace, name, hosts("[a]"), remedy)
	}
}

// isRefused creates a Darkroom and expects an error that contains some texts.
func isRefused(t *testing.T, namespace, name, spec string, says ...string) {
	t.Helper()
	darkroom := &unstructured.Unstructured{Object: map[string]any{}}
	if err := yaml.Unmarshal([]byte(`{"spec": `+spec+`}`), &darkroom.Object); err != nil {
		t.Fatal(err)
	}
	darkroom.SetGroupVersionKind(v1alpha1.GroupVersionKind)
	darkroom.SetNamespace(namespace)
	darkroom.SetName(name)
	err := kube.Create(t.Context(), darkroom)
	if err == nil {
		t.Fatalf("the spec was accepted: %s", spec)
	}
	for _, want := range says {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error for %s %s does not contain %q:\n%v", name, spec, want, err)
		}
	}
}

// This test complements the rejections: object names contain dots, spaces and letters of all alphabets.
func TestProbesOfOrdinaryPathsAreAcceptedWithTheirDefaults(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	for name, path := range map[string]string{
		"plain": "/cat.jpg", "dots": "/.well-known/..cat../a..b.jpg", "space": "/a b/ü.png", "percent": "/100%.png",
		"ping": "/ping/cat.jpg", "long": "/" + strings.Repeat("a", 1023),
	} {
		darkroom := webFolder(namespace, name)
		darkroom.Spec.Probe = &v1alpha1.Probe{Path: path}
		create(t, darkroom)
		// Tools that wait for observedGeneration must not consider the Darkroom finished before the first report.
		if darkroom.Status.ObservedGeneration != -1 {
			t.Errorf("got observedGeneration %d in a new status, want -1", darkroom.Status.ObservedGeneration)
		}
		probe := darkroom.Spec.Probe
		if *probe.PeriodSeconds != 60 || *probe.TimeoutSeconds != 10 || *probe.FailureThreshold != 3 {
			t.Errorf("%s: got the defaults %d, %d, %d", path, *probe.PeriodSeconds, *probe.TimeoutSeconds,
				*probe.FailureThreshold)
		}
	}
}

// TestASpecThatOnlyTheTranslatorRejectsIsRefusedOnceAndRecovers uses an unknown default parameter. The CRD's rules
// cannot check the names of default parameters within their cost budget.
func TestASpecThatOnlyTheTranslatorRejectsIsRefusedOnceAndRecovers(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	operator := startOperator(t, namespace)
	darkroom := webFolder(namespace, "photos")
	darkroom.Spec.DefaultParams = map[string]v1alpha1.ParamValue{"a b": "c"}
	create(t, darkroom)
	eventuallyStatus(t, darkroom, "refused", isNotReady(v1alpha1.ReasonInvalid))
	status := mustGet(t, &v1alpha1.Darkroom{}, namespace, "photos").Status
	if status.Phase != v1alpha1.PhaseFailed || !strings.Contains(status.Message, "spec.defaultParams[a b]") {
		t.Errorf("got phase %s with message %q", status.Phase, status.Message)
	}
	eventuallyEvent(t, namespace, "Refused")
	eventually(t, "no more requests", quiet(operator))

	change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.LogLevel = "warn" })
	eventuallyStatus(t, darkroom, "still refused", isNotReady(v1alpha1.ReasonInvalid))
	upgrade(t, darkroom, func(d *v1alpha1.Darkroom) {
		d.Spec.DefaultParams = map[string]v1alpha1.ParamValue{"auto": "compress"}
	})
	if got := mustConfig(t, namespace, "photos").Data["DEFAULTPARAMS"]; got != "auto=compress" {
		t.Errorf("DEFAULTPARAMS is %q", got)
	}
}
