package charts

import (
	"fmt"
	"strings"
	"testing"
)

func TestBadValuesAreRefusedWithARemedy(t *testing.T) {
	var hosts strings.Builder
	for i := range 17 {
		fmt.Fprintf(&hosts, "h%d.example.com,", i)
	}
	for name, test := range map[string]struct {
		values string
		want   []string
	}{
		"no scheme": {
			`{source: {baseUrl: images.example.org}}`,
			[]string{"'/source/baseUrl'", "an absolute http(s) URL", "for example https://"},
		},
		"unknown source": {
			`{source: {type: FTP}}`,
			[]string{"'/source/type'", "'WebFolder', 'S3', 'GoogleCloudStorage', 'CloudFront'"},
		},
		"S3 without anything": {
			`{source: {type: S3}}`,
			[]string{
				"'/source/bucket/name'", "'/source/bucket/region'",
				"existingSecret.name, or both accessKey and secretKey",
			},
		},
		"S3 with half of its credentials": {
			`{source: {type: S3, bucket: {name: b, region: r}, credentials: {accessKey: a}}}`,
			[]string{"'/source/credentials'", "both accessKey and secretKey"},
		},
		"S3 endpoint without scheme": {
			`{source: {type: S3, bucket: {name: b, region: r, endpoint: "minio:9000"}, credentials: {existingSecret: {name: s}}}}`,
			[]string{"'/source/bucket/endpoint'", "https://minio.example.org:9000"},
		},
		"several sources without gate": {
			`{additionalSources: [{name: a, path: /a, type: WebFolder, baseUrl: "https://a.example.org"}]}`,
			[]string{"additionalSources: requires gate.enabled: true"},
		},
		"additional source of a bad path": {
			`{gate: {enabled: true}, additionalSources: [{name: a, path: a/, type: WebFolder, baseUrl: "https://a.example.org"}]}`,
			[]string{"'/additionalSources/0/path'", "starts with a slash"},
		},
		"additional source without place": {
			`{gate: {enabled: true}, additionalSources: [{name: a, fallback: true, type: CloudFront}]}`,
			[]string{"additionalSources[0]: a source of type CloudFront needs host"},
		},
		"additional source without keys": {
			`{gate: {enabled: true}, additionalSources: [{name: a, fallback: true, type: S3,
				bucket: {name: b, region: r}, credentials: {accessKey: a}}]}`,
			[]string{"additionalSources[0].credentials: a source of type S3 needs existingSecret.name"},
		},
		"additional source of all paths": {
			`{gate: {enabled: true}, additionalSources: [{name: a, type: WebFolder, baseUrl: "https://a.example.org"}]}`,
			[]string{`additionalSources[0].path: "" is the path of source too`, "fallback: true"},
		},
		"two additional sources of a path": {
			`{gate: {enabled: true}, additionalSources: [{name: a, path: /a, type: WebFolder, baseUrl: "https://a.example.org"},
				{name: b, path: /a, type: WebFolder, baseUrl: "https://b.example.org"}]}`,
			[]string{`additionalSources[1].path: "/a" is the path of additionalSources[0] too`},
		},
		"two additional sources of a name": {
			`{gate: {enabled: true}, additionalSources: [{name: a, path: /a, type: WebFolder, baseUrl: "https://a.example.org"},
				{name: a, path: /b, type: WebFolder, baseUrl: "https://b.example.org"}]}`,
			[]string{"additionalSources[1].name: a is the name of another source too"},
		},
		"no path to strip": {
			`{gate: {enabled: true}, additionalSources: [{name: a, fallback: true, stripPath: true, type: WebFolder,
				baseUrl: "https://a.example.org"}]}`,
			[]string{"additionalSources[0].stripPath: requires path"},
		},
		"preset of an unknown parameter": {
			`{gate: {enabled: true, presets: {thumb: width=200}}}`,
			[]string{"'/gate/presets/thumb'", "for example w=200&h=200&fit=crop"},
		},
		"preset of no value": {
			`{gate: {enabled: true, presets: {thumb: w=200&fit=fill}}}`, []string{`gate.presets.thumb: fit cannot be "fill"`},
		},
		"preset beyond a limit": {
			`{gate: {enabled: true, presets: {thumb: h=5000}}}`, []string{"gate.presets.thumb: h=5000 exceeds the limit of 4096"},
		},
		"default of no value, with a gate": {
			`{gate: {enabled: true}, defaultParams: {w: 0}}`, []string{`defaultParams: w cannot be "0"`},
		},
		"presets only, without any": {
			`{gate: {enabled: true, onlyPresets: true}}`, []string{"gate.onlyPresets: requires gate.presets"},
		},
		"presets only, with a probe": {
			`{gate: {enabled: true, onlyPresets: true, presets: {thumb: w=200}}, probe: {path: /cat.jpg}}`,
			[]string{"gate.onlyPresets: cannot be combined with probe.path"},
		},
		"probe with a parameter that is not allowed": {
			`{gate: {enabled: true, limits: {parameters: [h]}}, probe: {path: /cat.jpg}}`,
			[]string{"gate.limits.parameters: must have w"},
		},
		"disk that holds no result": {
			`{gate: {enabled: true, cache: {diskBytes: 1}}}`, []string{"'/gate/cache/diskBytes'", "at least 16777216"},
		},
		"two identities of a pod": {
			`{gate: {enabled: true}, source: {type: S3, bucket: {name: b, region: r}, auth: WorkloadIdentity},
				additionalSources: [{name: a, fallback: true, type: GoogleCloudStorage, bucket: {name: b}, auth: WorkloadIdentity}]}`,
			[]string{
				"source.auth and additionalSources[0].auth: the pods have one workload identity, for S3 or for " +
					"GoogleCloudStorage",
			},
		},
		"CloudFront without host": {
			`{source: {type: CloudFront}}`,
			[]string{"'/source/host'", "d111111abcdef8.cloudfront.net"},
		},
		"path prefix without slash": {
			`{source: {pathPrefix: uploads}}`,
			[]string{"'/source/pathPrefix'", "starts with a slash, for example /uploads"},
		},
		"log level that hangs Darkroom": {
			`{logLevel: loud}`,
			[]string{"'/logLevel'", "'debug', 'info', 'warn', 'error', 'fatal', 'panic'"},
		},
		"DEBUG": {
			`{extraEnv: [{name: DEBUG, value: "true"}]}`,
			[]string{"'/extraEnv/0/name'", "any name but DEBUG"},
		},
		"password of a proxy": {
			`{proxy: {httpsProxy: "http://user:pass@proxy:3128"}}`,
			[]string{"'/proxy/httpsProxy'", "without user and password", "extraEnvFrom"},
		},
		"duplicate variable": {
			`{extraEnv: [{name: A, value: "1"}, {name: A, value: "2"}]}`,
			[]string{"extraEnv: duplicate name A"},
		},
		"duplicate host":        {`{hosts: [a.example.com, a.example.com]}`, []string{"'/hosts'", "equal"}},
		"misspelled value":      {`{replicas: 3}`, []string{"additional properties 'replicas' not allowed"}},
		"number as a tag":       {`{image: {tag: 0.4}}`, []string{"'/image/tag'", "want string"}},
		"tag in the repository": {`{image: {repository: "darkroom:v0.4.2"}}`, []string{"'/image/repository'"}},
		"gateway without parents": {
			`{gateway: {enabled: true}}`,
			[]string{"gateway.parentRefs: at least one Gateway is required"},
		},
		"more hosts than a route holds": {
			`{gateway: {enabled: true, parentRefs: [{name: g}]}, hosts: [` + strings.TrimSuffix(hosts.String(), ",") + `]}`,
			[]string{"hosts: an HTTPRoute supports at most 16 hosts, got 17"},
		},
		"autoscaling upside down": {
			`{autoscaling: {enabled: true, minReplicas: 5, maxReplicas: 2}}`,
			[]string{"minReplicas (5) must not exceed maxReplicas (2)"},
		},
		"sleep beyond the end": {
			`{preStopSleepSeconds: 60}`,
			[]string{"preStopSleepSeconds (60) must be less than terminationGracePeriodSeconds (60)"},
		},
		"no time for the gate to drain": {
			`{gate: {enabled: true}, terminationGracePeriodSeconds: 25}`,
			[]string{"15 seconds"},
		},
		"authorities without a gate": {
			`{source: {caBundle: {name: ca}}}`,
			[]string{"source.caBundle.name: requires gate.enabled: true"},
		},
		"identity without a gate": {
			`{source: {type: GoogleCloudStorage, bucket: {name: b}, auth: WorkloadIdentity}}`,
			[]string{"source.auth: requires gate.enabled: true"},
		},
		"identity and keys": {
			`{source: {type: GoogleCloudStorage, bucket: {name: b}, auth: WorkloadIdentity, credentials: {existingSecret: {name: s}}},
				gate: {enabled: true}}`,
			[]string{"source.auth: replaces source.credentials"},
		},
		"monitor of no metrics": {
			`{metrics: {serviceMonitor: {enabled: true}}}`,
			[]string{"requires metrics.enabled: true"},
		},
		"name no Service may have": {`{fullnameOverride: 2026-photos}`, []string{"'/fullnameOverride'"}},
		"budget that blocks drains": {
			`{podDisruptionBudget: {maxUnavailable: 0}}`,
			[]string{"'/podDisruptionBudget/maxUnavailable'"},
		},
		"path with a query":           {`{probe: {path: "/cat.jpg?w=32"}}`, []string{"'/probe/path'", "without query"}},
		"path that leaves the source": {`{probe: {path: /a/../b}}`, []string{"'/probe/path'"}},
		"credentials without a bucket": {
			`{source: {type: S3, credentials: {secretKey: not-a-real-key}}}`,
			[]string{"'/source/credentials'"},
		},
		"password of the source": {
			`{source: {baseUrl: "https://me:not-a-real-key@images.example.org"}}`,
			[]string{"'/source/baseUrl'"},
		},
		"parameter that ends the list": {`{defaultParams: {w: "1;h=2"}}`, []string{"'/defaultParams/w'"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := tryRender(mustLoad(t), releaseName, test.values)
			if err == nil {
				t.Fatalf("accepted: %s", test.values)
			}
			if strings.Contains(err.Error(), "not-a-real-key") {
				t.Errorf("the message ends in conditions and events, and shows a credential:\n%v", err)
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("want %q in:\n%v", want, err)
				}
			}
		})
	}
}

// The schema's message comes first, but `helm --skip-schema-validation` exists.
func TestDebugIsRefusedWithoutTheSchemaToo(t *testing.T) {
	lax := mustLoad(t)
	lax.Schema = nil
	_, err := tryRender(lax, releaseName, `{extraEnv: [{name: DEBUG, value: "true"}]}`)
	if err == nil || !strings.Contains(err.Error(), "extraEnv: DEBUG cannot be set") {
		t.Errorf("got %v", err)
	}
}
