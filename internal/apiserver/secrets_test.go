package apiserver_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

// serviceAccountKey is a key of Google Cloud without any permission.
var serviceAccountKey = fmt.Sprintf(
	`{"type":"service_account","client_email":"a@b.iam.gserviceaccount.com","private_key":"-----BEGIN\n%s\n-----END\n"}`,
	canaries[1],
)

// s3Keys are the keys for a bucket.
var s3Keys = map[string]string{"accessKey": canaries[0], "secretKey": canaries[1]}

// newSecretBody returns the body of a new Secret with some fields.
func newSecretBody(t *testing.T, namespace, name string, fields map[string]string) string {
	t.Helper()
	body := map[string]string{"namespace": namespace, "name": name}
	maps.Copy(body, fields)
	raw, err := json.Marshal(body)
	expect.NoError(t, err)
	return string(raw)
}

func TestCredentialsAreStoredInASecret(t *testing.T) {
	t.Parallel()
	s, namespace := start(t), newNamespace(t)
	token := newUserWho(t, namespace, "keeper", canKeepSecrets).token
	for name, c := range map[string]struct{ fields, want map[string]string }{
		"s3-keys": {s3Keys, s3Keys},
		"gcs-keys": {
			map[string]string{"credentialsJson": serviceAccountKey},
			map[string]string{"credentials.json": serviceAccountKey},
		},
	} {
		got := s.want(http.StatusCreated, token, "POST", "/secrets", newSecretBody(t, namespace, name, c.fields))
		mustNotLeak(t, "the answer", fmt.Sprint(got.header)+got.body)
		summary := into[apiserver.Secret](t, got)
		if summary.Name != name || summary.Type != "Opaque" || !slices.Equal(summary.Keys, slices.Sorted(maps.Keys(c.want))) {
			t.Errorf("the response is %+v", summary)
		}
		secret := &corev1.Secret{}
		expect.NoError(t, kube.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, secret))
		if data := fmt.Sprintf("%s", secret.Data); data != fmt.Sprint(c.want) {
			t.Errorf("%s contains %s, want %v", name, data, c.want)
		}
		if len(secret.OwnerReferences) != 0 ||
			!reflect.DeepEqual(secret.Labels, map[string]string{"app.kubernetes.io/managed-by": "darkroom-apiserver"}) {
			t.Errorf("%s has the owners %v and the labels %v", name, secret.OwnerReferences, secret.Labels)
		}
	}
	s.stop()
	mustNotLeak(t, "the log", s.log.String())
}

func TestExistingSecretsAreNotOverwritten(t *testing.T) {
	t.Parallel()
	s, namespace := start(t), newNamespace(t)
	token := newUserWho(t, namespace, "keeper", canKeepSecrets).token
	create(t, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "keys"},
		StringData: map[string]string{"accessKey": "earlier"},
	})
	body := newSecretBody(t, namespace, "keys", s3Keys)
	for _, query := range []string{"", "?dryRun=All"} {
		got := s.want(http.StatusConflict, token, "POST", "/secrets"+query, body)
		contains(t, "the remedy", problemOf(t, got).Detail, "choose another name")
		mustNotLeak(t, "the answer", got.body)
	}
	secret := &corev1.Secret{}
	err := kube.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "keys"}, secret)
	if err != nil || string(secret.Data["accessKey"]) != "earlier" {
		t.Errorf("the Secret is %v, %v", secret.Data, err)
	}
}

func TestSecretsAreCreatedWithTheRightsOfTheCaller(t *testing.T) {
	t.Parallel()
	s, namespace := start(t), newNamespace(t)
	body := newSecretBody(t, namespace, "keys", s3Keys)
	got := s.want(http.StatusForbidden, newEditor(t, namespace).token, "POST", "/secrets", body)
	contains(t, "the refusal", problemOf(t, got).Detail, "darkroom-secret-creator")
	mustNotLeak(t, "the answer", got.body)
	problemOf(t, s.want(http.StatusUnauthorized, "", "POST", "/secrets", body))
	s.want(http.StatusCreated, newUserWho(t, namespace, "keeper", canKeepSecrets).token, "POST",
		"/secrets?dryRun=All", body)
	err := kube.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "keys"}, &corev1.Secret{})
	if !apierrors.IsNotFound(err) {
		t.Errorf("a Secret was stored: %v", err)
	}
	limited := start(t, func(o *apiserver.Options) { o.Namespaces = []string{newNamespace(t)} })
	keeper := newUserWho(t, namespace, "another", canKeepSecrets)
	problemOf(t, limited.want(http.StatusNotFound, keeper.token, "POST", "/secrets", body))
}

// The cause is not always a missing permission of the caller.
func TestARefusedSecretNamesTheCause(t *testing.T) {
	t.Parallel()
	s, full, ending := start(t), newNamespace(t), newNamespace(t)
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: full, Name: "few"}}
	quota.Spec.Hard = corev1.ResourceList{"count/secrets": resource.MustParse("0")}
	create(t, quota)
	quota.Status = corev1.ResourceQuotaStatus{Hard: quota.Spec.Hard, Used: quota.Spec.Hard}
	expect.NoError(t, kube.Status().Update(t.Context(), quota))
	keeper := newUserWho(t, full, "keeper", canKeepSecrets)
	keeper.may(ending, canKeepSecrets)
	expect.NoError(t, kube.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ending}}))
	for namespace, cause := range map[string]string{full: "exceeded quota", ending: "being terminated"} {
		eventually(t, "the cause is named", func() error {
			got := s.call(keeper.token, "POST", "/secrets", newSecretBody(t, namespace, "keys", s3Keys))
			mustNotLeak(t, "the answer", got.body)
			if got.status != http.StatusForbidden || !strings.Contains(got.body, cause) {
				return fmt.Errorf("the response is %s, want %s", got, cause)
			}
			return nil
		})
	}
}

func TestInvalidSecretsNameTheField(t *testing.T) {
	t.Parallel()
	s, namespace := start(t), newNamespace(t)
	token := newUserWho(t, namespace, "keeper", canKeepSecrets).token
	long := strings.Repeat(canaries[1], 100)
	for name, c := range map[string]struct {
		secret string
		fields map[string]string
		want   string
	}{
		"no name":  {"", s3Keys, "body.name"},
		"bad name": {"S3_Keys", s3Keys, "body.name"},
		"bad namespace": {"keys", map[string]string{
			"namespace": "a/b", "accessKey": canaries[0],
			"secretKey": canaries[1],
		}, "body.namespace"},
		"one key":       {"keys", map[string]string{"secretKey": canaries[1]}, "body.accessKey"},
		"the other key": {"keys", map[string]string{"accessKey": canaries[0]}, "body.secretKey"},
		"a line break": {
			"keys",
			map[string]string{"accessKey": canaries[0] + "\n", "secretKey": canaries[1]},
			"body.accessKey",
		},
		"nothing": {"keys", nil, "body.accessKey"},
		"both": {"keys", map[string]string{
			"accessKey": canaries[0], "secretKey": canaries[1],
			"credentialsJson": serviceAccountKey,
		}, "body.credentialsJson"},
		"not JSON": {"keys", map[string]string{"credentialsJson": "{" + canaries[1]}, "body.credentialsJson"},
		"another JSON": {"keys", map[string]string{"credentialsJson": `{"type":"authorized_user","private_key":"` +
			canaries[1] + `"}`}, "body.credentialsJson"},
		"a number as type": {
			"keys",
			map[string]string{"credentialsJson": `{"type":1,"private_key":"` + canaries[1] + `"}`},
			"body.credentialsJson",
		},
		"too long": {"keys", map[string]string{"accessKey": canaries[0], "secretKey": long}, "body.secretKey"},
	} {
		t.Run(name, func(t *testing.T) {
			got := s.on(t).want(http.StatusUnprocessableEntity, token, "POST", "/secrets",
				newSecretBody(t, namespace, c.secret, c.fields))
			mustNotLeak(t, "the answer", got.body)
			wantLocations(t, got, c.want)
		})
	}
	problemOf(t, s.want(http.StatusRequestEntityTooLarge, token, "POST", "/secrets",
		`{"secretKey":"`+strings.Repeat("x", 200<<10)+`"}`))
	s.stop()
	mustNotLeak(t, "the log", s.log.String())
}
