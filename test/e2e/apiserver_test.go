//go:build e2e

package e2e

import (
	"path/filepath"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/access"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/program"
)

const (
	// apiServerAccount is the ServiceAccount of config/apiserver.
	apiServerAccount = "apiserver"
	// allLines is more than the number of lines that the API server logs in a test.
	allLines = 10000
)

// startAPIServer starts an API server with exactly the permissions in config/apiserver and with additional arguments.
// It ends with the test.
func startAPIServer(t *testing.T, args ...string) *program.Program {
	t.Helper()
	dir := t.TempDir()
	kubeconfig := filepath.Join(dir, "apiserver.kubeconfig")
	account := client.ObjectKey{Namespace: operatorNamespace, Name: apiServerAccount}
	must(t, access.WriteKubeconfigOf(t.Context(), admin, account, kubeconfig))
	args = append([]string{
		"--base-domain", baseDomain, "--lease-namespace", operatorNamespace, "--log-level", "debug",
	}, args...)
	server, err := program.APIServer(binaries, kubeconfig, filepath.Join(dir, "apiserver.log"), args...)
	must(t, err)
	t.Cleanup(func() {
		if err := server.End(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("the API server's log:\n%s", server.Log(allLines))
		}
	})
	eventually(t, "the API server is ready", server.Ready)
	return server
}

// Permissions of users in tests: to edit, to view, and to manage Secrets.
var (
	viewing = []rbacv1.PolicyRule{
		{
			APIGroups: []string{v1alpha1.GroupVersion.Group}, Resources: []string{"darkrooms"},
			Verbs: []string{"get", "list", "watch"},
		},
		{APIGroups: []string{""}, Resources: []string{"pods", "events"}, Verbs: []string{"get", "list", "watch"}},
		{APIGroups: []string{"apps"}, Resources: []string{"controllerrevisions"}, Verbs: []string{"get", "list"}},
	}
	editing = append([]rbacv1.PolicyRule{
		{
			APIGroups: []string{v1alpha1.GroupVersion.Group}, Resources: []string{"darkrooms"},
			Verbs: []string{"create", "update", "patch", "delete"},
		},
		{APIGroups: []string{""}, Resources: []string{"services/proxy"}, Verbs: []string{"get"}},
	}, viewing...)
	keepingSecrets = []rbacv1.PolicyRule{{
		APIGroups: []string{""}, Resources: []string{"secrets"},
		Verbs: []string{"get", "list", "create"},
	}}
)

// newPerson creates a ServiceAccount with permissions in its namespace, and returns a token for it.
func newPerson(t *testing.T, namespace, name string, rules []rbacv1.PolicyRule) string {
	t.Helper()
	meta := metav1.ObjectMeta{Namespace: namespace, Name: name}
	create(t, &corev1.ServiceAccount{ObjectMeta: meta})
	permit(t, meta, rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}, rules)
	token, err := access.Token(t.Context(), admin, client.ObjectKey{Namespace: namespace, Name: name})
	must(t, err)
	return token
}

// permit grants permissions in a namespace by a Role of the given name.
func permit(t *testing.T, meta metav1.ObjectMeta, subject rbacv1.Subject, rules []rbacv1.PolicyRule) {
	t.Helper()
	create(t, &rbacv1.Role{ObjectMeta: meta, Rules: rules})
	create(t, &rbacv1.RoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
		Subjects: []rbacv1.Subject{subject},
	})
}
