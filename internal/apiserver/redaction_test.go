package apiserver_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/wire"
)

// canaries are secrets that must not appear anywhere, in plain text or in base64.
var canaries = []string{"canary-access-key-4711", "canary-secret-key-0815", "canary-env-value-1234"}

// mustNotLeak fails if a text contains a canary.
func mustNotLeak(t *testing.T, where, text string) {
	t.Helper()
	for _, canary := range canaries {
		for _, form := range []string{canary, base64.StdEncoding.EncodeToString([]byte(canary))} {
			if strings.Contains(text, form) {
				t.Errorf("%s contains %s:\n%s", where, canary, text)
			}
		}
	}
}

func withSecrets(namespace, name string) string {
	bucket := fmt.Sprintf(`"type":"S3","bucket":"b","region":"r","accessKey":%q,"secretKey":%q`, canaries[0], canaries[1])
	return fmt.Sprintf(`{"name":%q,"namespace":%q,"source":{%s},"additionalSources":[{"name":"old","fallback":true,%s}],"gate":{},
		"subDomains":["x"],"extraEnv":[{"name":"PASSWORD","value":%q}]}`, name, namespace, bucket, bucket, canaries[2])
}

func TestSecretsGoInAndNeverComeOut(t *testing.T) {
	t.Parallel()
	s, namespace, token := startForEditor(t)
	viewer := newUserWho(t, namespace, "viewer", canView)
	watching := s.follow(token, "/events/stream?namespace="+namespace)
	const merge = "application/merge-patch+json"

	created := s.want(http.StatusCreated, token, "POST", "/darkrooms", withSecrets(namespace, "rest"))
	spec := stored(t, namespace, "rest").Spec
	if spec.Source.SecretKey != canaries[1] || spec.AdditionalSources[0].SecretKey != canaries[1] ||
		spec.ExtraEnv[0].Value != canaries[2] {
		t.Fatalf("the secrets were not stored: %+v", spec)
	}
	// kubectl stores the applied object, including secrets, in an annotation.
	create(t, &v1alpha1.Darkroom{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "kubectl", Annotations: map[string]string{
			corev1.LastAppliedConfigAnnotation: canaries[1], "other": "stays",
		}},
		Spec: v1alpha1.DarkroomSpec{
			Source: v1alpha1.Source{
				Type: v1alpha1.S3, Bucket: "b", Region: "r",
				AccessKey: canaries[0], SecretKey: canaries[1],
			},
			SubDomains: []string{"y"},
			ExtraEnv:   []corev1.EnvVar{{Name: "PASSWORD", Value: canaries[2]}},
		},
	})
	s.becomes(http.StatusOK, token, "GET", path(namespace, "kubectl"), "")
	looked := into[wire.Darkroom](t, s.want(http.StatusOK, viewer.token, "GET", path(namespace, "kubectl"), ""))
	if looked.Source.Credentials != "inline" || looked.Annotations["other"] != "stays" {
		t.Errorf("shown is %+v", looked)
	}

	answers := map[string]answer{"create": created}
	for _, who := range []string{token, viewer.token, ""} {
		for _, name := range []string{"rest", "kubectl"} {
			for _, what := range []string{"", "/pods", "/events", "/manifest", "/image?path=/x.jpg"} {
				answers[fmt.Sprint(len(answers), " ", name, what)] = s.call(who, "GET", path(namespace, name)+what, "")
			}
		}
		for _, other := range []string{
			"/darkrooms", "/darkrooms?namespace=" + namespace, "/session", "/metrics",
			"/openapi.json", "/version",
		} {
			answers[fmt.Sprint(len(answers), other)] = s.call(who, "GET", other, "")
		}
	}
	// Responses to rejected writes contain the reason, and do not repeat the input.
	long := strings.Repeat(canaries[1], 60)
	for name, body := range map[string]string{
		"there is one": withSecrets(namespace, "rest"),
		"too long":     strings.Replace(withSecrets(namespace, "long"), canaries[1], long, 1),
		"wrong type": strings.Replace(withSecrets(namespace, "type"),
			fmt.Sprintf("%q", canaries[1]), `["`+canaries[1]+`"]`, 1),
		"not JSON":           withSecrets(namespace, "broken") + canaries[1],
		"one key":            strings.Replace(withSecrets(namespace, "one"), `"accessKey":"`+canaries[0]+`",`, "", 1),
		"refused by a rule":  strings.Replace(withSecrets(namespace, "rule"), `"PASSWORD"`, `"DEBUG"`, 1),
		"secret in a field":  strings.Replace(withSecrets(namespace, "field"), `"r"`, `"`+canaries[1]+` x"`, 1),
		"secret as a name":   withSecrets(namespace, "NO-"+canaries[1]),
		"name of an unknown": `{"` + canaries[1] + `":1}`,
	} {
		got := s.call(token, "POST", "/darkrooms", body)
		if got.status < 400 {
			t.Errorf("%s is not refused: %s", name, got)
		}
		// Names are shown, so they must not be secrets.
		if name != "name of an unknown" && name != "secret as a name" {
			answers["refused: "+name] = got
		}
	}
	answers["dry run"] = s.want(http.StatusCreated, token, "POST", "/darkrooms?dryRun=All", withSecrets(namespace, "dry"))
	answers["patch"] = s.want(http.StatusOK, token, "PATCH", path(namespace, "rest"), `{"replicas":2}`, "If-Match",
		"*", "Content-Type", merge)
	answers["put"] = s.want(http.StatusOK, token, "PUT", path(namespace, "rest"), answers["patch"].body, "If-Match", "*")
	if spec := stored(t, namespace, "rest").Spec; spec.Source.AccessKey != canaries[0] ||
		spec.Source.SecretKey != canaries[1] ||
		spec.AdditionalSources[0].AccessKey != canaries[0] || spec.AdditionalSources[0].SecretKey != canaries[1] ||
		spec.ExtraEnv[0].Value != canaries[2] || *spec.Replicas != 2 {
		t.Errorf("omitted secrets were not kept: %+v", spec)
	}
	if applied := stored(t, namespace, "kubectl").Annotations[corev1.LastAppliedConfigAnnotation]; applied != canaries[1] {
		t.Errorf("kubectl's annotation is %q", applied)
	}
	answers["delete"] = s.want(http.StatusNoContent, token, "DELETE", path(namespace, "rest"), "")
	watching.until("deleted")

	for name, got := range answers {
		mustNotLeak(t, name, fmt.Sprint(got.header)+got.body)
	}
	mustNotLeak(t, "the stream", fmt.Sprintf("%#v", watching.seen))
	s.stop()
	mustNotLeak(t, "the log", s.log.String())
}
