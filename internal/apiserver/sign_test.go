package apiserver_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver"
	"github.com/darkroom-operator/darkroom-operator/internal/signing"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

func TestURLsAreSignedForUsersWhoMayReadTheKeys(t *testing.T) {
	t.Parallel()
	s, namespace := start(t), newNamespace(t)
	reader, other := newUser(t, namespace, "reader"), newUser(t, namespace, "other")
	other.may(namespace, canEdit)
	reader.may(namespace,
		append([]rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}}},
			canEdit...))
	body := webFolder(namespace, "photos")
	s.want(http.StatusCreated, reader.token, "POST", "/darkrooms", strings.Replace(body, `"name"`,
		`"gate":{"signing":{"secretRef":{"name":"signing"}}},"probe":{"path":"/probe.jpg"},"name"`, 1))
	s.want(http.StatusCreated, reader.token, "POST", "/darkrooms", strings.ReplaceAll(body, "photos", "open"))
	sign := path(namespace, "photos") + "/signed-url?path=/a.jpg&w=300"
	signed := func(answer string) string {
		var out apiserver.SignedURL
		expect.NoError(t, json.Unmarshal([]byte(answer), &out))
		if out.Signed != strings.Contains(out.URL, "s=") {
			t.Errorf("the response does not report whether the URL is signed: %s", answer)
		}
		return out.URL
	}

	contains(t, "the response without the Secret",
		problemOf(t, s.want(http.StatusNotFound, reader.token, "GET", sign, "")).Detail, `Secret "signing"`)
	create(t, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "signing"},
		StringData: map[string]string{"keys": "the first key, 0123456789\nthe second key, 0123456789"},
	})
	// Of gate/testdata/signatures.txt.
	const signature = "s=14289c89fd5f9cd6b753350748fd2c7f6d27bf90d6eebe7decdff2e486fc0e7a"
	if got := signed(s.want(http.StatusOK, reader.token, "GET", sign, "").body); got != "/a.jpg?"+signature+"&w=300" {
		t.Errorf("the URL is %s", got)
	}
	contains(t, "a URL that expires", signed(s.want(http.StatusOK, reader.token, "GET", sign+"&expires=60", "").body),
		"expires=")
	contains(t, "the refusal", problemOf(t, s.want(http.StatusForbidden, other.token, "GET", sign, "")).Detail,
		`get the Secret "signing"`)
	got := signed(s.want(http.StatusOK, other.token, "GET",
		path(namespace, "open")+"/signed-url?path=/a.jpg&w=300", "").body)
	if got != "/a.jpg?w=300" {
		t.Errorf("the URL of a Darkroom without signing is %s", got)
	}

	serveAs(t, namespace, "photos", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "image/png")
		_, _ = io.WriteString(w, r.URL.RawQuery)
	}))
	image := path(namespace, "photos") + "/image?path="
	// The audit log of Kubernetes contains the URL.
	asked, err := url.Parse("/a.jpg?" + s.becomes(http.StatusOK, reader.token, "GET", image+"/a.jpg&w=300", "").body)
	expect.NoError(t, err)
	query := asked.Query()
	if !query.Has("expires") || query.Get("w") != "300" || !signing.Verifies("the first key, 0123456789", *asked) {
		t.Errorf("the gate received the request %s", asked)
	}
	if got := s.want(http.StatusOK, other.token, "GET", image+"/probe.jpg&w=16", "").body; got != "w=16" {
		t.Errorf("the image of the probe was requested with %s", got)
	}
	s.want(http.StatusForbidden, other.token, "GET", image+"/probe.jpg&w=17", "")
}
