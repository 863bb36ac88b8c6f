//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/access"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/child"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/manifests"
)

// apiServerAccount is the ServiceAccount of config/apiserver.
const apiServerAccount = "apiserver"

// apiServer is a process of the API server, with the rights that config/apiserver
// gives it and no others.
type apiServer struct {
	url     string
	logFile string
}

// startAPIServer starts a server, with further arguments, that ends with the test.
func startAPIServer(t *testing.T, args ...string) *apiServer {
	t.Helper()
	installAPIServerRights(t)
	dir := t.TempDir()
	kubeconfig, err := kubeconfigOf(t.Context(), operatorNamespace, apiServerAccount, filepath.Join(dir, "apiserver.kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	address, err := freeAddress()
	if err != nil {
		t.Fatal(err)
	}
	s := &apiServer{url: "http://" + address, logFile: filepath.Join(dir, "apiserver.log")}
	log, err := os.Create(s.logFile)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	args = append([]string{"apiserver", "--bind-address", address, "--base-domain", baseDomain, "--log-level", "debug"}, args...)
	process := exec.Command(filepath.Join(binaries, "darkroom-operator"), args...)
	process.Env = []string{"KUBECONFIG=" + kubeconfig, "HOME=/nonexistent"}
	process.Stdout, process.Stderr = log, log
	if err := child.Start(process); err != nil {
		t.Fatalf("start the API server: %v", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- process.Wait() }()
	t.Cleanup(func() {
		_ = process.Process.Signal(syscall.SIGTERM)
		timer := time.NewTimer(stopPatience)
		defer timer.Stop()
		select {
		case err := <-ended:
			if err != nil {
				t.Errorf("the API server ended with %v", err)
			}
		case <-timer.C:
			_ = process.Process.Kill()
			t.Errorf("the API server still ran %s after SIGTERM: %v", stopPatience, <-ended)
		}
		if t.Failed() {
			t.Logf("the API server's log:\n%s", s.log())
		}
	})
	eventually(t, "the API server is ready", func(ctx context.Context) error {
		status, body, err := s.call(ctx, "", http.MethodGet, "/readyz", "")
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("readyz answers %d: %s", status, body)
		}
		return err
	})
	return s
}

// call sends a request with a token.
func (s *apiServer) call(ctx context.Context, token, method, path, body string) (status int, answer []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, method, s.url+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := front.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	answer, err = io.ReadAll(response.Body)
	return response.StatusCode, answer, err
}

func (s *apiServer) log() string {
	content, err := os.ReadFile(s.logFile)
	if err != nil {
		return err.Error()
	}
	return string(content)
}

var installingRights sync.Mutex

// installAPIServerRights applies the ServiceAccount of config/apiserver and its permissions,
// but not the Deployment and the Service, because the tests start the process.
func installAPIServerRights(t *testing.T) {
	t.Helper()
	installingRights.Lock()
	defer installingRights.Unlock()
	built, err := exec.CommandContext(t.Context(), "kubectl", "kustomize", filepath.Join(repository, "config", "apiserver")).Output()
	if err != nil {
		t.Fatalf("build config/apiserver: %v", withStderr(err))
	}
	objects, err := manifests.Decode(built)
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		switch object.GetKind() {
		case "ServiceAccount", "ClusterRole", "ClusterRoleBinding":
		default:
			continue
		}
		if err := applyObject(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
}

// What people may do: all, or only look.
var (
	viewing = []rbacv1.PolicyRule{
		{APIGroups: []string{v1alpha1.GroupVersion.Group}, Resources: []string{"darkrooms"}, Verbs: []string{"get", "list", "watch"}},
		{APIGroups: []string{""}, Resources: []string{"pods", "events"}, Verbs: []string{"get", "list", "watch"}},
	}
	editing = append([]rbacv1.PolicyRule{
		{APIGroups: []string{v1alpha1.GroupVersion.Group}, Resources: []string{"darkrooms"}, Verbs: []string{"create", "update", "patch", "delete"}},
		{APIGroups: []string{""}, Resources: []string{"services/proxy"}, Verbs: []string{"get"}},
	}, viewing...)
	keepingSecrets = []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get", "list", "create"}}}
)

// newPerson makes a ServiceAccount with rights in its namespace, and returns its token.
func newPerson(t *testing.T, namespace, name string, rules []rbacv1.PolicyRule) string {
	t.Helper()
	meta := metav1.ObjectMeta{Namespace: namespace, Name: name}
	create(t, &corev1.ServiceAccount{ObjectMeta: meta})
	permit(t, meta, rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: name}, rules)
	token, err := access.Token(t.Context(), admin, client.ObjectKey{Namespace: namespace, Name: name})
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// permit gives rights in a namespace by a Role of the given name.
func permit(t *testing.T, meta metav1.ObjectMeta, subject rbacv1.Subject, rules []rbacv1.PolicyRule) {
	t.Helper()
	create(t, &rbacv1.Role{ObjectMeta: meta, Rules: rules})
	create(t, &rbacv1.RoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
		Subjects: []rbacv1.Subject{subject},
	})
}
