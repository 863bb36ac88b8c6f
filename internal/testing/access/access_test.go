package access_test

import (
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/access"
)

func TestTheAdministratorIsReadFromTheKubeconfigThatWasWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kubeconfig")
	t.Setenv("KUBECONFIG", path)
	written := &rest.Config{Host: "https://127.0.0.1:6443", BearerToken: "secret", TLSClientConfig: rest.TLSClientConfig{
		CAData: []byte("authority"), CertData: []byte("certificate"), KeyData: []byte("key"),
	}}
	if err := access.WriteKubeconfig(written, "photos", path); err != nil {
		t.Fatal(err)
	}
	read, err := access.Administrator()
	if err != nil {
		t.Fatal(err)
	}
	if read.Host != written.Host || read.BearerToken != written.BearerToken || string(read.CAData) != "authority" ||
		string(read.CertData) != "certificate" || string(read.KeyData) != "key" {
		t.Errorf("what was read is not what was written: %v", read)
	}
}

func TestAClusterThatIsNotOnLoopbackIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kubeconfig")
	t.Setenv("KUBECONFIG", path)
	if err := access.WriteKubeconfig(&rest.Config{Host: "https://203.0.113.1:6443"}, "", path); err != nil {
		t.Fatal(err)
	}
	if _, err := access.Administrator(); err == nil || !strings.Contains(err.Error(), "203.0.113.1") {
		t.Errorf("the answer is %v, want a refusal that names the cluster", err)
	}
}
