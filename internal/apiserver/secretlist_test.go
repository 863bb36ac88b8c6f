package apiserver_test

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
)

// newKeeper makes a user who may list and create the Secrets of a namespace.
func newKeeper(t *testing.T, namespace string) *user {
	t.Helper()
	u := newUser(t, namespace, "keeper")
	u.may(namespace, canKeepSecrets)
	return u
}

func storeSecret(t *testing.T, namespace, name string, kind corev1.SecretType, labels, values map[string]string) {
	t.Helper()
	create(t, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels}, Type: kind, StringData: values,
	})
}

func secretsOf(namespace string) string { return "/secrets?namespace=" + namespace }

func TestSecretsAreListedWithoutValues(t *testing.T) {
	t.Parallel()
	s, namespace := start(t), newNamespace(t)
	token := newKeeper(t, namespace).token
	storeSecret(t, namespace, "keys", "", nil, map[string]string{"secretKey": canaries[1], "accessKey": canaries[0]})
	storeSecret(t, namespace, "empty", "", nil, nil)
	storeSecret(t, namespace, "tls", corev1.SecretTypeTLS, nil, map[string]string{"tls.crt": canaries[2], "tls.key": canaries[2]})
	storeSecret(t, namespace, "sh.helm.release.v1.photos.v1", "helm.sh/release.v1", nil, map[string]string{"release": canaries[2]})
	storeSecret(t, namespace, "photos-credentials", "", map[string]string{v1alpha1.LabelDarkroom: "photos"}, map[string]string{"accessKey": canaries[0]})

	got := s.want(http.StatusOK, token, "GET", secretsOf(namespace), "")
	want := apiserver.SecretList{Items: []apiserver.Secret{
		{Name: "empty", Type: "Opaque", Keys: []string{}},
		{Name: "keys", Type: "Opaque", Keys: []string{"accessKey", "secretKey"}},
		{Name: "tls", Type: "kubernetes.io/tls", Keys: []string{"tls.crt", "tls.key"}},
	}}
	if list := into[apiserver.SecretList](t, got); !reflect.DeepEqual(list, want) {
		t.Errorf("the Secrets are %+v, want %+v", list, want)
	}
	mustNotLeak(t, "the answer", fmt.Sprint(got.header)+got.body)
	s.stop()
	mustNotLeak(t, "the log", s.log.String())
}

func TestSecretsAreListedWithTheRightsOfTheCaller(t *testing.T) {
	t.Parallel()
	s, one, two := start(t), newNamespace(t), newNamespace(t)
	storeSecret(t, one, "keys", "", nil, map[string]string{"accessKey": canaries[0]})
	reader := newUser(t, two, "reader")
	reader.may(two, append([]rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}}}, canEdit...))
	for name, token := range map[string]string{
		"an editor of Darkrooms":    newEditor(t, one).token,
		"a keeper of another":       newKeeper(t, two).token,
		"one who may get, not list": reader.token,
		"a stranger":                newUser(t, two, "stranger").token,
	} {
		t.Run(name, func(t *testing.T) {
			namespace := one
			if token == reader.token {
				namespace = two
			}
			got := s.on(t).want(http.StatusForbidden, token, "GET", secretsOf(namespace), "")
			if problemOf(t, got); strings.Contains(got.body, `"keys"`) {
				t.Errorf("a Secret is named: %s", got)
			}
		})
	}
	problemOf(t, s.want(http.StatusUnauthorized, "", "GET", secretsOf(one), ""))
	problemOf(t, s.want(http.StatusUnprocessableEntity, reader.token, "GET", "/secrets", ""))

	limited := start(t, func(o *apiserver.Options) { o.Namespaces = []string{two} })
	problemOf(t, limited.want(http.StatusNotFound, newKeeper(t, one).token, "GET", secretsOf(one), ""))
}

func TestListOfSecretsIsBounded(t *testing.T) {
	t.Parallel()
	s, namespace := start(t), newNamespace(t)
	const bound = 500
	var group errgroup.Group
	group.SetLimit(8)
	for i := range bound + 5 {
		group.Go(func() error {
			return kube.Create(t.Context(), &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("secret-%04d", i)},
			})
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	list := into[apiserver.SecretList](t, s.want(http.StatusOK, newKeeper(t, namespace).token, "GET", secretsOf(namespace), ""))
	if len(list.Items) != bound || !list.Truncated || list.Items[bound-1].Name != fmt.Sprintf("secret-%04d", bound-1) {
		t.Errorf("%d Secrets are listed, truncated: %t", len(list.Items), list.Truncated)
	}
}

func TestListsOfSecretsAreBudgeted(t *testing.T) {
	t.Parallel()
	s, namespace := start(t), newNamespace(t)
	greedy := newKeeper(t, namespace).token
	var group errgroup.Group
	refused := make(chan answer, 64)
	for range cap(refused) {
		group.Go(func() error {
			refused <- s.call(greedy, "GET", secretsOf(namespace), "")
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	close(refused)
	statuses := map[int]int{}
	for got := range refused {
		statuses[got.status]++
	}
	if statuses[http.StatusTooManyRequests] == 0 || statuses[http.StatusOK] == 0 {
		t.Errorf("answers by status: %v", statuses)
	}
	modest := newUser(t, namespace, "modest")
	modest.may(namespace, canKeepSecrets)
	s.want(http.StatusOK, modest.token, "GET", secretsOf(namespace), "")
}
