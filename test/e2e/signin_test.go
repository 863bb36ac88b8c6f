//go:build e2e

package e2e

import (
	"crypto/rand"
	"encoding/base64"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/internal/apiserver/oidc"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/darkrooms"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/issuer"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/program"
)

// TestPeopleSignInAtAnIssuer runs web/e2e/signin.mjs. The cluster does not trust the issuer, so the API server
// impersonates its users.
func TestPeopleSignInAtAnIssuer(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	create(t, darkrooms.New("photos", namespace).WebFolder(theSources.folderURL).Obj())

	// Sessions need HTTPS, as behind an Ingress.
	var server *program.Program
	ingress := httptest.NewTLSServer(&httputil.ReverseProxy{Rewrite: func(request *httputil.ProxyRequest) {
		request.SetURL(&url.URL{Scheme: "http", Host: strings.TrimPrefix(server.URL, "http://")})
		request.Out.Host = request.In.Host
	}})
	t.Cleanup(ingress.Close)
	idp, err := issuer.Start(ingress.URL + oidc.CallbackPath)
	must(t, err)
	t.Cleanup(idp.Close)
	group := namespace + "-editors"
	idp.AddUser("ann", group, "others")

	permitImpersonation(t, namespace, "oidc:ann@example.com", "oidc:"+group)
	permit(t, metav1.ObjectMeta{Namespace: namespace, Name: "editors"},
		rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: "oidc:" + group}, editing)
	cookieKey := make([]byte, 32)
	_, _ = rand.Read(cookieKey)
	config, err := yaml.Marshal(oidc.Config{
		Name: "Test issuer", Issuer: idp.URL, ClientID: issuer.ClientID, RedirectURL: ingress.URL + oidc.CallbackPath,
		CAFile: secretFile(t, idp.CA), ClientSecretFile: secretFile(t, []byte(issuer.ClientSecret)),
		CookieKeysFile: secretFile(t, []byte(base64.StdEncoding.EncodeToString(cookieKey)+"\n")),
		Impersonation: &oidc.Impersonation{
			UsernameClaim: "email", UsernamePrefix: "oidc:",
			GroupsPrefix: "oidc:", Groups: []string{group},
		},
	})
	must(t, err)
	server = startAPIServer(t, "--cluster-name", "staging", "--oidc-config", secretFile(t, config))

	runSteps(t, "signin.mjs", []string{
		strings.TrimPrefix(ingress.URL, "https://"),
		strings.TrimPrefix(idp.URL, "https://"),
	},
		"URL="+ingress.URL, "USER=ann", "USERNAME=oidc:ann@example.com", "DARKROOM=photos")
	// All tokens start with these letters.
	if log := server.Log(allLines); strings.Contains(log, "eyJhbGciOi") || strings.Contains(log, issuer.ClientSecret) {
		t.Error("the log of the API server contains a token or the secret of the client")
	}
}

// permitImpersonation lets the API server impersonate a user and a group, as
// config/components/oidc-impersonation does.
func permitImpersonation(t *testing.T, namespace, user, group string) {
	t.Helper()
	meta := metav1.ObjectMeta{Name: namespace + "-impersonation"}
	create(t, &rbacv1.ClusterRole{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
		{
			APIGroups: []string{""}, Resources: []string{"users"}, ResourceNames: []string{user},
			Verbs: []string{"impersonate"},
		},
		{
			APIGroups: []string{""}, Resources: []string{"groups"}, ResourceNames: []string{group},
			Verbs: []string{"impersonate"},
		},
	}})
	create(t, &rbacv1.ClusterRoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: meta.Name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: operatorNamespace, Name: apiServerAccount}},
	})
}

func secretFile(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(path, content, 0o600))
	return path
}
