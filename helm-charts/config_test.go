package charts

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

const (
	inlineS3 = `{source: {type: S3, bucket: {name: b, region: r}, credentials: {accessKey: AKIAEXAMPLE, secretKey: not-a-real-key}}}`
	secretS3 = `{source: {type: S3, bucket: {name: b, region: r}, credentials: {existingSecret: {name: mine}}}}`
)

func TestEachSourceSetsOnlyItsOwnEnvironment(t *testing.T) {
	for name, test := range map[string]struct {
		values string
		want   map[string]string
	}{
		"web folder": {
			values: `{source: {baseUrl: "https://images.example.org/a/", pathPrefix: /p, host: h}}`,
			want:   map[string]string{"KIND": "webfolder", "BASEURL": "https://images.example.org/a"},
		},
		"S3": {
			values: `{source: {type: S3, pathPrefix: /p, bucket: {name: b, region: r, endpoint: "https://minio.example.org"}, credentials: {existingSecret: {name: mine}}}}`,
			want: map[string]string{
				"KIND": "s3", "BUCKET_NAME": "b", "BUCKET_REGION": "r", "PATHPREFIX": "/p",
				"BUCKET_ENDPOINT": "https://minio.example.org", "HYSTRIX_COMMANDNAME": "s3",
			},
		},
		"S3 of AWS, everything served": {
			values: secretS3,
			want:   map[string]string{"KIND": "s3", "BUCKET_NAME": "b", "BUCKET_REGION": "r", "HYSTRIX_COMMANDNAME": "s3"},
		},
		"Google Cloud Storage": {
			values: `{source: {type: GoogleCloudStorage, pathPrefix: /p, bucket: {name: b, region: r}, credentials: {credentialsJson: "{}"}}}`,
			want:   map[string]string{"KIND": "gcs", "BUCKET_NAME": "b"},
		},
		"CloudFront": {
			values: `{source: {type: CloudFront, host: d1.cloudfront.net, pathPrefix: /p}}`,
			want:   map[string]string{"KIND": "cloudfront", "HOST": "d1.cloudfront.net", "SECUREPROTOCOL": "true", "PATHPREFIX": "/p"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := map[string]string{}
			breaker := 0
			for key, value := range environmentOf(t, test.values) {
				variable, ofSource := strings.CutPrefix(key, "SOURCE_")
				switch {
				case !ofSource:
				case strings.HasPrefix(variable, "HYSTRIX_") && variable != "HYSTRIX_COMMANDNAME":
					breaker++
				default:
					got[variable] = value
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("SOURCE_… (-want +got):\n%s", diff)
			}
			if breaker != 5 {
				t.Errorf("want the 5 settings of the circuit breaker, got %d", breaker)
			}
		})
	}
}

func TestDefaultParametersAreSortedPairs(t *testing.T) {
	environment := environmentOf(t, `{defaultParams: {w: 800, fit: crop, auto: "compress,format", mono: true}}`)
	if want, got := "auto=compress,format;fit=crop;mono=true;w=800", environment["DEFAULTPARAMS"]; got != want {
		t.Errorf("want %q, got %q", want, got)
	}
	if value, ok := environmentOf(t, "")["DEFAULTPARAMS"]; ok {
		t.Errorf("want none by default, got %q", value)
	}
}

func TestLargeNumbersAreNotWrittenAsPowers(t *testing.T) {
	if got := environmentOf(t, `{cache: {ttlSeconds: 31536000}}`)["CACHE_TIME"]; got != "31536000" {
		t.Errorf("CACHE_TIME=%s", got)
	}
}

func TestMetricsAreCollectedOnlyWhenEnabled(t *testing.T) {
	if got := environmentOf(t, `{metrics: {enabled: true}}`)["METRICS_SYSTEM"]; got != "prometheus" {
		t.Errorf("METRICS_SYSTEM=%q", got)
	}
	if got, ok := environmentOf(t, "")["METRICS_SYSTEM"]; ok {
		t.Errorf("METRICS_SYSTEM=%q by default", got)
	}
}

func TestNoCredentialLeavesItsSecret(t *testing.T) {
	const accessKey, secretKey, serviceAccount = "AKIAEXAMPLE", "not-a-real-key", `{"private_key":"not-a-real-one"}`
	for name, test := range map[string]struct {
		values string
		keys   map[string]string
	}{
		"S3": {inlineS3, map[string]string{"accessKey": accessKey, "secretKey": secretKey}},
		"Google Cloud Storage": {
			`{source: {type: GoogleCloudStorage, bucket: {name: b}, credentials: {credentialsJson: '` + serviceAccount + `'}}}`,
			map[string]string{"credentials.json": serviceAccount},
		},
	} {
		t.Run(name, func(t *testing.T) {
			rendered := render(t, test.values)
			secret := only[*corev1.Secret](t, decode(t, rendered))
			if !strings.HasPrefix(secret.Name, "photos-darkroom-credentials-") {
				t.Errorf("the Secret is named %s", secret.Name)
			}
			for key, want := range test.keys {
				if got := string(secret.Data[key]); got != want {
					t.Errorf("key %s: want %q, got %q", key, want, got)
				}
			}
			for document := range strings.SplitSeq(rendered.Manifest+"\n---\n"+rendered.Info.Notes, "\n---\n") {
				for _, credential := range test.keys {
					encoded := base64.StdEncoding.EncodeToString([]byte(credential))
					if strings.Contains(document, credential) || (strings.Contains(document, encoded) && !strings.Contains(document, "kind: Secret")) {
						t.Errorf("a credential is shown in\n%s", document)
					}
				}
			}
		})
	}
}

func TestCredentialsComeByReference(t *testing.T) {
	type reference struct{ secret, key string }
	const own = "the chart's own"
	for name, test := range map[string]struct {
		values string
		want   map[string]reference
	}{
		"inline S3": {inlineS3, map[string]reference{
			"SOURCE_BUCKET_ACCESSKEY": {own, "accessKey"},
			"SOURCE_BUCKET_SECRETKEY": {own, "secretKey"},
		}},
		"existing Secret for S3": {secretS3, map[string]reference{
			"SOURCE_BUCKET_ACCESSKEY": {"mine", "accessKey"},
			"SOURCE_BUCKET_SECRETKEY": {"mine", "secretKey"},
		}},
		"existing Secret wins over inline credentials": {
			`{source: {type: S3, bucket: {name: b, region: r}, credentials: {accessKey: a, secretKey: s, existingSecret: {name: mine, accessKeyKey: id, secretKeyKey: key}}}}`,
			map[string]reference{"SOURCE_BUCKET_ACCESSKEY": {"mine", "id"}, "SOURCE_BUCKET_SECRETKEY": {"mine", "key"}},
		},
		"existing Secret for Google Cloud Storage": {
			`{source: {type: GoogleCloudStorage, bucket: {name: b}, credentials: {existingSecret: {name: mine}}}}`,
			map[string]reference{"SOURCE_BUCKET_CREDENTIALSJSON": {"mine", "credentials.json"}},
		},
		"credentials of another kind of source": {
			`{source: {credentials: {accessKey: a, secretKey: s, credentialsJson: "{}"}}}`, map[string]reference{},
		},
		"extraEnv replaces a credential": {
			strings.Replace(secretS3, "{source", "{extraEnv: [{name: SOURCE_BUCKET_SECRETKEY, value: other}], source", 1),
			map[string]reference{"SOURCE_BUCKET_ACCESSKEY": {"mine", "accessKey"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			rendered := objectsOf(t, test.values)
			got := map[string]reference{}
			secrets := all[*corev1.Secret](rendered)
			referenced := false
			for _, variable := range containerOf(t, test.values).Env {
				if variable.ValueFrom != nil {
					ref := variable.ValueFrom.SecretKeyRef
					got[variable.Name] = reference{ref.Name, ref.Key}
					if len(secrets) == 1 && ref.Name == secrets[0].Name {
						got[variable.Name] = reference{own, ref.Key}
						referenced = true
					}
				}
			}
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(reference{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if (len(secrets) == 1) != referenced {
				t.Errorf("%d Secrets are rendered, but the chart's own is referenced: %t", len(secrets), referenced)
			}
		})
	}
}

func TestDebugIsNeverOn(t *testing.T) {
	container := containerOf(t, `{extraEnv: [{name: FOO, value: bar}], extraEnvFrom: [{configMapRef: {name: sets-debug}}]}`)
	// Kubernetes lets env win over every envFrom.
	if diff := cmp.Diff([]corev1.EnvVar{{Name: "DEBUG", Value: "false"}, {Name: "FOO", Value: "bar"}}, container.Env); diff != "" {
		t.Errorf("env (-want +got):\n%s", diff)
	}
	if last := container.EnvFrom[len(container.EnvFrom)-1].ConfigMapRef.Name; last != "sets-debug" {
		t.Errorf("extraEnvFrom must come last to win over the chart's ConfigMap, but %s does", last)
	}
}
