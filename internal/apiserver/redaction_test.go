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
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
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

// createAsKubectl creates a Darkroom with secrets. kubectl stores the applied object,
// including secrets, in an annotation.
func createAsKubectl(t *testing.T, namespace, name string) {
	t.Helper()
	create(t, &v1alpha1.Darkroom{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Annotations: map[string]string{
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
}

// wantSecrets fails unless a stored Darkroom has the secrets of withSecrets.
func wantSecrets(t *testing.T, namespace, name string) {
	t.Helper()
	spec := stored(t, namespace, name).Spec
	got := []string{
		spec.Source.AccessKey, spec.Source.SecretKey,
		spec.AdditionalSources[0].AccessKey, spec.AdditionalSources[0].SecretKey, spec.ExtraEnv[0].Value,
	}
	want := []string{canaries[0], canaries[1], canaries[0], canaries[1], canaries[2]}
	expect.Equal(t, "stored secrets", want, got)
}

func TestSecretsThatAWriteLeavesOutStay(t *testing.T) {
	t.Parallel()
	s, namespace, token := startForEditor(t)
	one := path(namespace, "rest")
	s.want(http.StatusCreated, token, "POST", "/darkrooms", withSecrets(namespace, "rest"))
	wantSecrets(t, namespace, "rest")
	got := s.want(http.StatusOK, token, "PATCH", one, `{"replicas":2}`, "If-Match", "*", "Content-Type", mergePatch)
	wantSecrets(t, namespace, "rest")
	s.want(http.StatusOK, token, "PUT", one, got.body, "If-Match", "*")
	wantSecrets(t, namespace, "rest")
}

func TestWritesShowNoSecrets(t *testing.T) {
	t.Parallel()
	s, namespace, token := startForEditor(t)
	watching := s.follow(token, "/events/stream?namespace="+namespace)
	one := path(namespace, "rest")
	patch := func() answer {
		return s.want(http.StatusOK, token, "PATCH", one, `{"replicas":2}`, "If-Match", "*", "Content-Type", mergePatch)
	}
	for _, write := range []struct {
		name string
		send func() answer
	}{
		{"POST", func() answer {
			return s.want(http.StatusCreated, token, "POST", "/darkrooms", withSecrets(namespace, "rest"))
		}},
		{"POST as a dry run", func() answer {
			return s.want(http.StatusCreated, token, "POST", "/darkrooms?dryRun=All", withSecrets(namespace, "dry"))
		}},
		{"PATCH", patch},
		{"PUT", func() answer { return s.want(http.StatusOK, token, "PUT", one, patch().body, "If-Match", "*") }},
		{"DELETE", func() answer { return s.want(http.StatusNoContent, token, "DELETE", one, "") }},
	} {
		got := write.send()
		mustNotLeak(t, write.name, fmt.Sprint(got.header)+got.body)
	}
	watching.until("deleted")
	mustNotLeak(t, "the stream", fmt.Sprintf("%#v", watching.seen))
	s.stop()
	mustNotLeak(t, "the log", s.log.String())
}

func TestReadsShowNoSecrets(t *testing.T) {
	t.Parallel()
	s, namespace, token := startForEditor(t)
	viewer := newUserWho(t, namespace, "viewer", canView)
	s.want(http.StatusCreated, token, "POST", "/darkrooms", withSecrets(namespace, "rest"))
	createAsKubectl(t, namespace, "kubectl")
	s.becomes(http.StatusOK, token, "GET", path(namespace, "kubectl"), "")

	paths := []string{
		"/darkrooms", "/darkrooms?namespace=" + namespace, "/session", "/metrics", "/openapi.json", "/version",
	}
	for _, name := range []string{"rest", "kubectl"} {
		for _, part := range []string{"", "/pods", "/events", "/manifest", "/image?path=/x.jpg"} {
			paths = append(paths, path(namespace, name)+part)
		}
	}
	for who, token := range map[string]string{"the editor": token, "a viewer": viewer.token, "a stranger": ""} {
		for _, path := range paths {
			got := s.call(token, "GET", path, "")
			mustNotLeak(t, path+" for "+who, fmt.Sprint(got.header)+got.body)
		}
	}
	s.stop()
	mustNotLeak(t, "the log", s.log.String())
}

func TestTheAnnotationOfKubectlIsHiddenAndKept(t *testing.T) {
	t.Parallel()
	s, namespace, token := startForEditor(t)
	createAsKubectl(t, namespace, "kubectl")
	shown := into[wire.Darkroom](t, s.becomes(http.StatusOK, token, "GET", path(namespace, "kubectl"), ""))
	if shown.Source.Credentials != "inline" || shown.Annotations["other"] != "stays" {
		t.Errorf("got credentials %q and annotations %v, want inline ones and the other annotation",
			shown.Source.Credentials, shown.Annotations)
	}
	s.want(http.StatusOK, token, "PATCH", path(namespace, "kubectl"), `{"replicas":2}`,
		"If-Match", "*", "Content-Type", mergePatch)
	kept := stored(t, namespace, "kubectl").Annotations[corev1.LastAppliedConfigAnnotation]
	if kept != canaries[1] {
		t.Errorf("got kubectl's annotation %q, want it unchanged", kept)
	}
}

func TestRefusalsRepeatNoSecrets(t *testing.T) {
	t.Parallel()
	s, namespace, token := startForEditor(t)
	s.want(http.StatusCreated, token, "POST", "/darkrooms", withSecrets(namespace, "rest"))
	quoted := fmt.Sprintf("%q", canaries[1])
	for name, body := range map[string]string{
		"a name that is taken": withSecrets(namespace, "rest"),
		"too long":             strings.Replace(withSecrets(namespace, "long"), canaries[1], strings.Repeat(canaries[1], 60), 1),
		"a list":               strings.Replace(withSecrets(namespace, "type"), quoted, "["+quoted+"]", 1),
		"not JSON":             withSecrets(namespace, "broken") + canaries[1],
		"one key":              strings.Replace(withSecrets(namespace, "one"), `"accessKey":"`+canaries[0]+`",`, "", 1),
		"refused by a rule":    strings.Replace(withSecrets(namespace, "rule"), `"PASSWORD"`, `"DEBUG"`, 1),
		"in another field":     strings.Replace(withSecrets(namespace, "field"), `"r"`, `"`+canaries[1]+` x"`, 1),
	} {
		got := s.call(token, "POST", "/darkrooms", body)
		if got.status < http.StatusBadRequest {
			t.Errorf("%s: got %s, want a refusal", name, got)
		}
		mustNotLeak(t, name, fmt.Sprint(got.header)+got.body)
	}
	s.stop()
	mustNotLeak(t, "the log", s.log.String())
}

// Names are shown, so they must not be secrets. A name that is a secret by mistake stays out of the log.
func TestNamesThatAreSecretsAreNotLogged(t *testing.T) {
	t.Parallel()
	s, namespace, token := startForEditor(t)
	for name, body := range map[string]string{
		"of a Darkroom": withSecrets(namespace, "NO-"+canaries[1]),
		"of a field":    `{"` + canaries[1] + `":1}`,
	} {
		if got := s.call(token, "POST", "/darkrooms", body); got.status < http.StatusBadRequest {
			t.Errorf("%s: got %s, want a refusal", name, got)
		}
	}
	s.stop()
	mustNotLeak(t, "the log", s.log.String())
}
