package controller_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// TestBadResourcesAreRefusedWithTheFieldAndTheRemedy checks the errors that `kubectl apply`
// shows. The rules are part of the CRD, so no operator runs here.
func TestBadResourcesAreRefusedWithTheFieldAndTheRemedy(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	const good = `{source: {baseUrl: "https://example.com/images"}, subDomains: [photos]}`
	const s3 = `type: S3, bucket: photos, region: eu-west-2`
	probing := func(probe string) string { return strings.Replace(good, "{", "{probe: "+probe+", ", 1) }
	for name, test := range map[string]struct {
		spec string // of a Darkroom named photos unless name says otherwise
		name string
		want []string
	}{
		"no source":                {spec: `{subDomains: [a]}`, want: []string{"spec.source: Required value"}},
		"no baseUrl":               {spec: `{source: {type: WebFolder}, subDomains: [a]}`, want: []string{"spec.source.baseUrl: Required value: needed when source.type is WebFolder, for example https://example.com/images"}},
		"empty baseUrl":            {spec: `{source: {baseUrl: ""}, subDomains: [a]}`, want: []string{"spec.source.baseUrl: Required value"}},
		"relative baseUrl":         {spec: `{source: {baseUrl: /images}, subDomains: [a]}`, want: []string{"spec.source.baseUrl: Invalid value", "must be an absolute http or https URL"}},
		"baseUrl without scheme":   {spec: `{source: {baseUrl: example.com/images}, subDomains: [a]}`, want: []string{"spec.source.baseUrl", "must be an absolute http or https URL"}},
		"baseUrl of another kind":  {spec: `{source: {baseUrl: "ftp://example.com"}, subDomains: [a]}`, want: []string{"spec.source.baseUrl", "must be an absolute http or https URL"}},
		"baseUrl with a password":  {spec: `{source: {baseUrl: "https://me:secret@example.com"}, subDomains: [a]}`, want: []string{"spec.source.baseUrl", "without user"}},
		"baseUrl with line breaks": {spec: `{source: {baseUrl: "https://example.com/\nDEBUG: true"}, subDomains: [a]}`, want: []string{"spec.source.baseUrl", "must be an absolute http or https URL"}},
		"unknown type":             {spec: `{source: {type: FTP}, subDomains: [a]}`, want: []string{`spec.source.type: Unsupported value: "FTP": supported values: "WebFolder", "S3", "GoogleCloudStorage", "CloudFront"`}},

		"S3 without a bucket":        {spec: `{source: {type: S3, region: r, accessKey: a, secretKey: s}, subDomains: [a]}`, want: []string{"spec.source.bucket: Required value: needed when source.type is S3"}},
		"S3 without a region":        {spec: `{source: {type: S3, bucket: b, accessKey: a, secretKey: s}, subDomains: [a]}`, want: []string{"spec.source.region: Required value: needed when source.type is S3, for example eu-west-2"}},
		"S3 without credentials":     {spec: `{source: {` + s3 + `}, subDomains: [a]}`, want: []string{"spec.source.credentialsSecretRef: Required value: S3 needs credentials: name a Secret here, or set accessKey and secretKey"}},
		"S3 with half a credential":  {spec: `{source: {` + s3 + `, accessKey: a}, subDomains: [a]}`, want: []string{"spec.source.secretKey", "accessKey and secretKey must be set together"}},
		"identity without a gate":    {spec: `{source: {type: S3, bucket: b, region: r, auth: WorkloadIdentity}, subDomains: [a]}`, want: []string{"spec.source.auth", "requires gate"}},
		"identity beside keys":       {spec: `{source: {` + s3 + `, auth: WorkloadIdentity, credentialsSecretRef: {name: keys}}, subDomains: [a], gate: {}}`, want: []string{"spec.source.auth", "replaces credentials"}},
		"authorities without a gate": {spec: `{source: {baseUrl: "https://example.com", caBundleRef: {name: ca}}, subDomains: [a]}`, want: []string{"spec.source.caBundleRef", "requires gate"}},
		"authorities of a Pod":       {spec: `{source: {baseUrl: "https://example.com", caBundleRef: {kind: Pod, name: ca}}, subDomains: [a], gate: {}}`, want: []string{"spec.source.caBundleRef.kind", `"ConfigMap", "Secret"`}},
		"both kinds of credentials":  {spec: `{source: {` + s3 + `, accessKey: a, secretKey: s, credentialsSecretRef: {name: keys}}, subDomains: [a]}`, want: []string{"spec.source.credentialsSecretRef", "inline keys and credentialsSecretRef are mutually exclusive"}},
		"endpoint without a scheme":  {spec: `{source: {` + s3 + `, endpoint: "minio:9000", credentialsSecretRef: {name: keys}}, subDomains: [a]}`, want: []string{"spec.source.endpoint", "for example https://minio.example.com:9000"}},
		"pathPrefix with a query":    {spec: `{source: {` + s3 + `, pathPrefix: "/a?b", credentialsSecretRef: {name: keys}}, subDomains: [a]}`, want: []string{"spec.source.pathPrefix", "must be a path such as /uploads"}},
		"reference without a name":   {spec: `{source: {` + s3 + `, credentialsSecretRef: {}}, subDomains: [a]}`, want: []string{"spec.source.credentialsSecretRef.name: Required value"}},
		"no GCS bucket":              {spec: `{source: {type: GoogleCloudStorage}, subDomains: [a]}`, want: []string{"spec.source.bucket: Required value"}},
		"no CloudFront host":         {spec: `{source: {type: CloudFront}, subDomains: [a]}`, want: []string{"spec.source.host: Required value: needed when source.type is CloudFront"}},
		"CloudFront URL":             {spec: `{source: {type: CloudFront, host: "https://d1.cloudfront.net"}, subDomains: [a]}`, want: []string{"spec.source.host", "without scheme or path"}},

		"no subDomains":         {spec: `{source: {baseUrl: "https://example.com"}}`, want: []string{"spec.subDomains: Required value"}},
		"empty subDomains":      {spec: `{source: {baseUrl: "https://example.com"}, subDomains: []}`, want: []string{"spec.subDomains", "should have at least 1 items"}},
		"repeated subDomains":   {spec: `{source: {baseUrl: "https://example.com"}, subDomains: [a, b, a]}`, want: []string{`spec.subDomains[2]: Duplicate value: "a"`}},
		"upper-case subDomain":  {spec: `{source: {baseUrl: "https://example.com"}, subDomains: [Photos]}`, want: []string{"spec.subDomains[0]", "must be a DNS name"}},
		"subDomain with a path": {spec: `{source: {baseUrl: "https://example.com"}, subDomains: [a/b]}`, want: []string{"spec.subDomains[0]", "must be a DNS name"}},
		"subDomain with a dot":  {spec: `{source: {baseUrl: "https://example.com"}, subDomains: [a., b]}`, want: []string{"spec.subDomains[0]", "must be a DNS name"}},
		"long label":            {spec: `{source: {baseUrl: "https://example.com"}, subDomains: [` + strings.Repeat("a", 64) + `]}`, want: []string{"spec.subDomains[0]", "must be a DNS name"}},

		"long name":                     {spec: good, name: strings.Repeat("a", 54), want: []string{"metadata.name must be no longer than 53 characters"}},
		"name that starts with a digit": {spec: good, name: "2026-photos", want: []string{"metadata.name must start with a letter"}},
		"name with a dot":               {spec: good, name: "photos.team", want: []string{"metadata.name must start with a letter"}},
		"unknown logLevel":              {spec: strings.Replace(good, "{", "{logLevel: verbose, ", 1), want: []string{`spec.logLevel: Unsupported value: "verbose"`}},
		"min over max replicas":         {spec: strings.Replace(good, "{", "{autoscaling: {minReplicas: 5, maxReplicas: 2}, ", 1), want: []string{"spec.autoscaling.minReplicas", "must not exceed maxReplicas"}},
		"negative replicas":             {spec: strings.Replace(good, "{", "{replicas: -1, ", 1), want: []string{"spec.replicas", "greater than or equal to 0"}},
		"time limit of a Gateway":       {spec: strings.Replace(good, "{", "{gateway: {parentRefs: [{name: g}], timeouts: {request: 1.5s}}, ", 1), want: []string{"spec.gateway.timeouts.request", "for example 10s"}},
		"gateway without parents":       {spec: strings.Replace(good, "{", "{gateway: {parentRefs: []}, ", 1), want: []string{"spec.gateway.parentRefs", "at least 1 items"}},
		"DEBUG":                         {spec: strings.Replace(good, "{", "{extraEnv: [{name: DEBUG, value: \"true\"}], ", 1), want: []string{"spec.extraEnv", "DEBUG is not allowed: it exposes profiling"}},
		"repeated environment":          {spec: strings.Replace(good, "{", "{extraEnv: [{name: A}, {name: A}], ", 1), want: []string{"spec.extraEnv[1]: Duplicate value"}},
		"version with a space":          {spec: strings.Replace(good, "{", "{version: \"1 2\", ", 1), want: []string{"spec.version", "must be a version such as 0.4.2 or an image tag"}},
		"repository with a tag":         {spec: strings.Replace(good, "{", "{image: {repository: \"me/darkroom:latest\"}, ", 1), want: []string{"spec.image.repository", "the tag is spec.version"}},
		"parameter with a semicolon":    {spec: strings.Replace(good, "{", "{defaultParams: {auto: \"compress;w=1\"}, ", 1), want: []string{"spec.defaultParams", "must not contain ';'"}},
		"hook on the Ingress":           {spec: strings.Replace(good, "{", `{ingress: {annotations: {helm.sh/hook: test}}, `, 1), want: []string{"spec.ingress.annotations", "keys of helm.sh and deployments.example.com are reserved"}},
		"release of the Ingress":        {spec: strings.Replace(good, "{", `{ingress: {annotations: {a: b, meta.helm.sh/release-name: other}}, `, 1), want: []string{"spec.ingress.annotations", "are reserved"}},
		"hook on the pods":              {spec: strings.Replace(good, "{", `{podTemplate: {annotations: {helm.sh/resource-policy: keep}}, `, 1), want: []string{"spec.podTemplate.annotations", "are reserved"}},
		"label of the operator":         {spec: strings.Replace(good, "{", `{podTemplate: {labels: {deployments.example.com/darkroom: other}}, `, 1), want: []string{"spec.podTemplate.labels", "are reserved"}},
		"repeated pull secret":          {spec: strings.Replace(good, "{", `{image: {pullSecrets: [{name: a}, {name: b}, {name: a}]}, `, 1), want: []string{"spec.image.pullSecrets[2]: Duplicate value"}},
		"repeated spread constraint":    {spec: strings.Replace(good, "{", `{podTemplate: {topologySpreadConstraints: [{topologyKey: z, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}, {topologyKey: z, maxSkew: 2, whenUnsatisfiable: DoNotSchedule}]}, `, 1), want: []string{"spec.podTemplate.topologySpreadConstraints[1]: Duplicate value"}},
		"repeated Gateway":              {spec: strings.Replace(good, "{", `{gateway: {parentRefs: [{name: a}, {name: b, namespace: gateways}, {name: b, namespace: gateways}]}, `, 1), want: []string{"spec.gateway.parentRefs", "a Gateway is referenced more than once"}},
		"a Gateway and its listener":    {spec: strings.Replace(good, "{", `{gateway: {parentRefs: [{name: a}, {name: a, sectionName: https}]}, `, 1), want: []string{"spec.gateway.parentRefs", "a Gateway is referenced more than once"}},
		"probe without a path":          {spec: probing(`{}`), want: []string{"spec.probe.path: Required value"}},
		"probe with a relative path":    {spec: probing(`{path: cat.jpg}`), want: []string{"spec.probe.path", "must start with '/', for example /photos/cat.jpg"}},
		"probe with a query":            {spec: probing(`{path: "/cat.jpg?w=9"}`), want: []string{"spec.probe.path", "must be a path without '?' or '#'"}},
		"probe with a fragment":         {spec: probing(`{path: "/cat.jpg#top"}`), want: []string{"spec.probe.path", "must be a path without '?' or '#'"}},
		"probe with a line break":       {spec: probing(`{path: "/cat\n.jpg"}`), want: []string{"spec.probe.path", "must not contain control characters"}},
		"probe that climbs":             {spec: probing(`{path: /a/../../secret}`), want: []string{"spec.probe.path", "must not contain empty, '.' or '..' segments"}},
		"probe that ends by climbing":   {spec: probing(`{path: /a/..}`), want: []string{"spec.probe.path", "must not contain empty, '.' or '..' segments"}},
		"probe with a double slash":     {spec: probing(`{path: //cat.jpg}`), want: []string{"spec.probe.path", "must not contain empty, '.' or '..' segments"}},
		"probe of 1025 bytes":           {spec: probing(`{path: "/` + strings.Repeat("ä", 512) + `"}`), want: []string{"spec.probe.path", "must be no longer than 1024 bytes"}},
		"probe of /ping":                {spec: probing(`{path: /ping}`), want: []string{"spec.probe.path", "/ping and /metrics are answered even when no image can be served"}},
		"probe of /metrics":             {spec: probing(`{path: /metrics}`), want: []string{"spec.probe.path", "must be the path of an image"}},
		"probe without a pause":         {spec: probing(`{path: /cat.jpg, periodSeconds: 9}`), want: []string{"spec.probe.periodSeconds", "greater than or equal to 10"}},
		"probe that outlasts its turn":  {spec: probing(`{path: /cat.jpg, periodSeconds: 10, timeoutSeconds: 11}`), want: []string{"spec.probe.timeoutSeconds", "must not exceed periodSeconds"}},
		"probe that waits too long":     {spec: probing(`{path: /cat.jpg, periodSeconds: 90, timeoutSeconds: 61}`), want: []string{"spec.probe.timeoutSeconds", "less than or equal to 60"}},
		"probe that never fails":        {spec: probing(`{path: /cat.jpg, failureThreshold: 0}`), want: []string{"spec.probe.failureThreshold", "greater than or equal to 1"}},
		"ServiceMonitor alone":          {spec: strings.Replace(good, "{", "{metrics: {serviceMonitor: true}, ", 1), want: []string{"spec.metrics.serviceMonitor", "requires metrics.enabled: true"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			darkroom := &unstructured.Unstructured{Object: map[string]any{}}
			if err := yaml.Unmarshal([]byte(`{"spec": `+test.spec+`}`), &darkroom.Object); err != nil {
				t.Fatal(err)
			}
			darkroom.SetGroupVersionKind(v1alpha1.GroupVersionKind)
			darkroom.SetNamespace(namespace)
			darkroom.SetName("photos")
			if test.name != "" {
				darkroom.SetName(test.name)
			}
			err := kube.Create(t.Context(), darkroom)
			if err == nil {
				t.Fatal("it was accepted")
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the message does not say %q:\n%v", want, err)
				}
			}
		})
	}
}

// TestProbesOfOrdinaryPathsAreAcceptedWithTheirDefaults is the counterpart of the
// refusals: names of objects have dots, spaces and letters of all alphabets.
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
		probe := darkroom.Spec.Probe
		if *probe.PeriodSeconds != 60 || *probe.TimeoutSeconds != 10 || *probe.FailureThreshold != 3 {
			t.Errorf("%s: the defaults are %d, %d, %d", path, *probe.PeriodSeconds, *probe.TimeoutSeconds, *probe.FailureThreshold)
		}
	}
}

// TestASpecThatOnlyTheTranslatorRejectsIsRefusedOnceAndRecovers uses the one thing
// that the CRD's rules cannot express within their budget: the names of default
// parameters.
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
		t.Errorf("phase %s, message %q", status.Phase, status.Message)
	}
	eventuallyEvent(t, namespace, "Refused")
	eventually(t, "no more requests", quiet(operator))

	change(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.LogLevel = "warn" })
	eventuallyStatus(t, darkroom, "still refused", isNotReady(v1alpha1.ReasonInvalid))
	upgrade(t, darkroom, func(d *v1alpha1.Darkroom) { d.Spec.DefaultParams = map[string]v1alpha1.ParamValue{"auto": "compress"} })
	if got := mustConfig(t, namespace, "photos").Data["DEFAULTPARAMS"]; got != "auto=compress" {
		t.Errorf("DEFAULTPARAMS is %q", got)
	}
}

// Refusals are decided faster than the cache shows the operator's own claim.
func TestEveryRefusalOfABurstIsReported(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	startOperator(t, namespace)
	var refused []*v1alpha1.Darkroom
	for i := range 40 {
		darkroom := webFolder(namespace, fmt.Sprintf("photos-%d", i))
		darkroom.Spec.DefaultParams = map[string]v1alpha1.ParamValue{"a b": "c"}
		create(t, darkroom)
		refused = append(refused, darkroom)
	}
	for _, darkroom := range refused {
		eventuallyStatus(t, darkroom, "refused", isNotReady(v1alpha1.ReasonInvalid))
	}
}
