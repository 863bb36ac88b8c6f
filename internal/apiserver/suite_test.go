package apiserver_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/controlplane"
)

// patience is for how long a test waits for what should take a second or less:
// machines that run tests are shared.
const patience = 60 * time.Second

// cluster is the API server that all tests of this package share, as its
// administrator; each test has a namespace of its own.
var (
	cluster   *rest.Config
	kube      client.Client
	clientset *kubernetes.Clientset
	// serverConfig is the identity of the servers under test: the ServiceAccount of
	// config/apiserver, with exactly the rights that stand there.
	serverConfig *rest.Config
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(controlplane.Main(m, prepare))
}

// prepare makes the clients, and the server's ServiceAccount.
func prepare(administrator *rest.Config) error {
	cluster = administrator
	scheme := runtime.NewScheme()
	err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme))
	if err != nil {
		return err
	}
	if kube, err = client.New(cluster, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	if clientset, err = kubernetes.NewForConfig(cluster); err != nil {
		return err
	}
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "apiserver"}}
	for _, file := range []string{"role.yaml", "auth_role.yaml"} {
		raw, err := os.ReadFile(filepath.Join("..", "..", "config", "apiserver", file))
		if err != nil {
			return err
		}
		part := &rbacv1.ClusterRole{}
		if err := yaml.UnmarshalStrict(raw, part); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		role.Rules = append(role.Rules, part.Rules...)
	}
	ctx := context.Background()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "apiserver"}}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: account.Namespace, Name: account.Name}},
	}
	for _, object := range []client.Object{role, account, binding} {
		if err := kube.Create(ctx, object); err != nil {
			return err
		}
	}
	token, err := tokenFor(ctx, account.Namespace, account.Name)
	if err != nil {
		return err
	}
	serverConfig = rest.AnonymousClientConfig(cluster)
	serverConfig.BearerToken = token
	return nil
}

func tokenFor(ctx context.Context, namespace, account string) (string, error) {
	request, err := clientset.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, account, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To[int64](600)},
	}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return request.Status.Token, nil
}

// newNamespace makes a namespace for a test. (Without controllers it is never gone, so
// its name is new each time.)
func newNamespace(t *testing.T) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	create(t, namespace)
	return namespace.Name
}

func create(t *testing.T, object client.Object) {
	t.Helper()
	if err := kube.Create(t.Context(), object); err != nil {
		t.Fatalf("create %T: %v", object, err)
	}
}

// eventually waits until a check finds nothing wrong.
func eventually(t *testing.T, what string, check func() error) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: still not after %s: %v", what, patience, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func lines(text string) []string { return strings.Split(text, "\n") }

func containsPrefix(list []string, prefix string) bool {
	return slices.ContainsFunc(list, func(line string) bool { return strings.HasPrefix(line, prefix) })
}
