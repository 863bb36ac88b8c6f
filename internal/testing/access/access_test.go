package access_test

import (
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/access"
)

func TestAClusterThatIsNotOnLoopbackIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kubeconfig")
	t.Setenv("KUBECONFIG", path)
	if err := access.WriteKubeconfig(&rest.Config{Host: "https://203.0.113.1:6443"}, "", path); err != nil {
		t.Fatal(err)
	}
	if _, err := access.Administrator(); err == nil || !strings.Contains(err.Error(), "203.0.113.1") {
		t.Errorf("the error is %v, want a refusal that names the cluster", err)
	}
}
