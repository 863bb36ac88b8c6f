package apiserver_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/access"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/controlplane"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/issuer"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/wait"
)

var repository = filepath.Join("..", "..")

// cluster is the API server that all tests of this package share, with an administrator's identity. Each test has its
// own namespace.
var (
	cluster *rest.Config
	kube    client.Client
	// serverConfig is the identity of the servers under test: the ServiceAccount of
	// config/apiserver, with exactly the permissions granted there.
	serverConfig *rest.Config
	// idp is the issuer that the cluster trusts.
	idp *issuer.Issuer
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	flag.Parse()
	if flag.Lookup("test.fuzz").Value.String() != "" {
		// Each worker is its own process, and decoders need no cluster.
		os.Exit(m.Run())
	}
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	if idp, err = issuer.Start(redirectURL); err != nil {
		return 1, err
	}
	defer idp.Close()
	folder, err := os.MkdirTemp("", "authentication")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(folder)
	config := filepath.Join(folder, "authentication.yaml")
	if err := os.WriteFile(config, trust(idp), 0o600); err != nil {
		return 1, err
	}
	return controlplane.MainWith(m, map[string]string{"authentication-config": config}, prepare), nil
}

// trust returns the AuthenticationConfiguration of a cluster that trusts an issuer.
func trust(idp *issuer.Issuer) []byte {
	return fmt.Appendf(nil, `
apiVersion: apiserver.config.k8s.io/v1beta1
kind: AuthenticationConfiguration
jwt:
  - issuer:
      url: %s
      certificateAuthority: %q
      audiences: [%s]
    claimMappings:
      username: {claim: preferred_username, prefix: "oidc:"}
      groups: {claim: groups, prefix: "oidc:"}
`, idp.URL, idp.CA, issuer.ClientID)
}

// prepare creates the client and the server's ServiceAccount.
func prepare(administrator *rest.Config) (err error) {
	cluster = administrator
	if kube, _, err = access.Clients(cluster); err != nil {
		return err
	}
	serverConfig, err = access.NewAPIServer(context.Background(), kube, cluster, repository)
	return err
}

// newNamespace creates a namespace for a test. (No controller runs that deletes namespaces, so each test uses a new
// name.)
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

// eventually waits until a check returns no error.
func eventually(t *testing.T, what string, check func() error) {
	t.Helper()
	limits := wait.Limits{Timeout: wait.Patience, Period: 20 * time.Millisecond}
	expect.NoError(t, limits.Until(t.Context(), what, func(context.Context) error { return check() }))
}

// contains checks that a text contains some parts.
func contains(t *testing.T, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s lacks %s: %s", what, part, text)
		}
	}
}
