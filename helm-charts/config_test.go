package charts

import (
	"encoding/base64"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/manifests"
)

const (
	inlineS3 = `{source: {type: S3, bucket: {name: b, region: r}, credentials: {accessKey: AKIAEXAMPLE, secretKey: not-a-real-key}}}`
	secretS3 = `{source: {type: S3, bucket: {name: b, region: r}, credentials: {existingSecret: {name: mine}}}}`
)

// TestNoCredentialLeavesItsSecret renders a release with all optional objects.
func TestNoCredentialLeavesItsSecret(t *testing.T) {
	const others = "{autoscaling: {enabled: true}, networkPolicy: {enabled: true}, metrics: {enabled: true, " +
		"serviceMonitor: {enabled: true}}, source"
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
			rendered := render(t, strings.Replace(test.values, "{source", others, 1))
			secret := manifests.Only[*corev1.Secret](t, decode(t, rendered))
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
					if strings.Contains(document, credential) ||
						(strings.Contains(document, encoded) && !strings.Contains(document, "kind: Secret")) {
						t.Errorf("a credential is shown in\n%s", document)
					}
				}
			}
		})
	}
}

func TestCredentialsComeByReference(t *testing.T) {
	for name, test := range map[string]struct {
		values string
		want   map[string]string
	}{
		"existing Secret wins over inline credentials": {
			`{source: {type: S3, bucket: {name: b, region: r}, credentials: {accessKey: a, secretKey: s,
				existingSecret: {name: mine, accessKeyKey: id, secretKeyKey: key}}}}`,
			map[string]string{"SOURCE_BUCKET_ACCESSKEY": "mine id", "SOURCE_BUCKET_SECRETKEY": "mine key"},
		},
		"credentials of another kind of source": {
			`{source: {credentials: {accessKey: a, secretKey: s, credentialsJson: "{}"}}}`, map[string]string{},
		},
		"extraEnv replaces a credential": {
			strings.Replace(secretS3, "{source", "{extraEnv: [{name: SOURCE_BUCKET_SECRETKEY, value: other}], source", 1),
			map[string]string{"SOURCE_BUCKET_ACCESSKEY": "mine accessKey"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if secrets := manifests.All[*corev1.Secret](objectsOf(t, test.values)); len(secrets) > 0 {
				t.Errorf("%d Secrets are rendered", len(secrets))
			}
			got := map[string]string{}
			for _, variable := range containerOf(t, test.values).Env {
				if variable.ValueFrom != nil {
					got[variable.Name] = variable.ValueFrom.SecretKeyRef.Name + " " + variable.ValueFrom.SecretKeyRef.Key
				}
			}
			expect.Equal(t, "references", test.want, got)
		})
	}
}

func TestDebugIsNeverOn(t *testing.T) {
	container := containerOf(t,
		`{extraEnv: [{name: FOO, value: bar}], extraEnvFrom: [{configMapRef: {name: sets-debug}}]}`)
	// In Kubernetes, env takes precedence over every envFrom.
	expect.Equal(t, "env", []corev1.EnvVar{{Name: "DEBUG", Value: "false"}, {Name: "FOO", Value: "bar"}}, container.Env)
	if last := container.EnvFrom[len(container.EnvFrom)-1].ConfigMapRef.Name; last != "sets-debug" {
		t.Errorf("extraEnvFrom must come last to win over the chart's ConfigMap, but %s does", last)
	}
}
