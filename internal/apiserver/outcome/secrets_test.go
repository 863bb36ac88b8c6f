package outcome

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

// described returns Secrets with the states of their keys, by field.
func described(secrets ...SecretOutcome) map[string]string {
	out := map[string]string{}
	for _, secret := range secrets {
		var keys []string
		for _, key := range secret.Keys {
			keys = append(keys, key.Name+" "+key.State)
		}
		out[strings.TrimPrefix(secret.Field, "body.")] = secret.Name + " " + secret.State + ": " + strings.Join(keys, ", ")
	}
	return out
}

// TestEverySecretIsNamed checks all Secrets without which the pods do not start or the Ingress does not serve.
func TestEverySecretIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		spec string
		want map[string]string
	}{
		"none": {`{source: {baseUrl: "https://example.com"}}`, map[string]string{}},
		"keys of S3": {
			`{source: {type: S3, credentialsSecretRef: {name: keys}}}`,
			map[string]string{"source.credentialsSecretRef": "keys unknown: accessKey unknown, secretKey unknown"},
		},
		"an authority": {
			`{source: {type: S3, caBundleRef: {kind: Secret, name: authority}}, gate: {}}`,
			map[string]string{"source.caBundleRef": "authority unknown: ca.crt unknown"},
		},
		"an authority in a ConfigMap": {
			`{source: {caBundleRef: {kind: ConfigMap, name: authority}}, gate: {}}`,
			map[string]string{},
		},
		"TLS": {
			`{ingress: {tlsSecretName: tls}}`,
			map[string]string{"ingress.tlsSecretName": "tls unknown: tls.crt unknown, tls.key unknown"},
		},
		"variables": {
			`{extraEnv: [{name: A, valueFrom: {secretKeyRef: {name: variable, key: a}}},
				{name: B, valueFrom: {secretKeyRef: {name: optional, key: b, optional: true}}}],
				extraEnvFrom: [{secretRef: {name: variables}}, {secretRef: {name: optional, optional: true}}]}`,
			map[string]string{
				"extraEnv[0].valueFrom.secretKeyRef": "variable unknown: a unknown",
				"extraEnvFrom[0].secretRef":          "variables unknown: ",
			},
		},
		"volumes": {
			`{podTemplate: {volumes: [{name: all, secret: {secretName: volume}}, {name: one, secret: {secretName: item, items: [{key: c, path: c}]}},
				{name: none, secret: {secretName: optional, optional: true}}]}}`,
			map[string]string{
				"podTemplate.volumes[0].secret": "volume unknown: ",
				"podTemplate.volumes[1].secret": "item unknown: c unknown",
			},
		},
		"one Secret of two fields": {
			`{source: {type: S3, credentialsSecretRef: {name: keys}}, extraEnv: [{name: A, valueFrom: {secretKeyRef: {name: keys, key: a}}},
				{name: B, valueFrom: {secretKeyRef: {name: keys, key: a}}}]}`,
			map[string]string{"source.credentialsSecretRef": "keys unknown: accessKey unknown, secretKey unknown, a unknown"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			darkroom := &v1alpha1.Darkroom{}
			expect.NoError(t, yaml.UnmarshalStrict([]byte("spec: "+c.spec), darkroom))
			expect.Equal(t, "the Secrets", c.want, described(Secrets(darkroom)...))
		})
	}
}

func TestOnlyAClearAnswerDecidesAboutASecret(t *testing.T) {
	resource := schema.GroupResource{Resource: "secrets"}
	full := &corev1.Secret{Data: map[string][]byte{"accessKey": nil}}
	for name, c := range map[string]struct {
		secret *corev1.Secret
		err    error
		want   string
	}{
		"a key is missing": {secret: full, want: "keys found: accessKey found, secretKey missing"},
		"there is none": {
			secret: &corev1.Secret{}, err: apierrors.NewNotFound(resource, "keys"),
			want: "keys missing: accessKey missing, secretKey missing",
		},
		"it may not be got": {
			secret: &corev1.Secret{}, err: apierrors.NewForbidden(resource, "keys", nil),
			want: "keys unknown: accessKey unknown, secretKey unknown",
		},
		"no answer": {secret: full, err: errors.New("timeout"), want: "keys unknown: accessKey unknown, secretKey unknown"},
	} {
		needed := neededSecrets{}
		needed.add("body.x", "keys", "accessKey", "secretKey")
		needed[0].Read(c.secret, c.err)
		expect.Equal(t, name, map[string]string{"x": c.want}, described(needed...))
	}
}
