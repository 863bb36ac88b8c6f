package install

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/controlplane"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/manifests"
)

// repository is the folder of the repository.
const repository = "../../.."

// kustomizeBuild builds a folder of config/ with the kubectl of the test cluster, as
// `kubectl apply -k` does. Several folders, joined by "+", are combined as docs/install.md says.
func kustomizeBuild(t *testing.T, folder string) []*unstructured.Unstructured {
	t.Helper()
	directory := filepath.Join(repository, "config", folder)
	if strings.Contains(folder, "+") {
		directory = combined(t, strings.Split(folder, "+"))
	}
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		t.Fatal("KUBEBUILDER_ASSETS is not set: run make test-go")
	}
	if err := noteInputs(); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), filepath.Join(assets, "kubectl"), "kustomize", directory)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		t.Fatalf("build config/%s: %v: %s", folder, err, stderr.String())
	}
	if stderr.Len() > 0 {
		t.Errorf("build config/%s: %s", folder, stderr.String())
	}
	return decode(t, out)
}

// combined returns a folder with a kustomization that combines folders of config/.
func combined(t *testing.T, folders []string) string {
	t.Helper()
	config, err := filepath.Abs(filepath.Join(repository, "config"))
	if err != nil {
		t.Fatal(err)
	}
	directory := t.TempDir()
	text := "namePrefix: darkroom-operator-\nresources:\n"
	for _, folder := range folders {
		relative, err := filepath.Rel(directory, filepath.Join(config, folder))
		if err != nil {
			t.Fatal(err)
		}
		text += "- " + relative + "\n"
	}
	if err := os.WriteFile(filepath.Join(directory, "kustomization.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return directory
}

// noteInputs looks at the folders that kubectl reads. Go runs tests again when what
// they themselves looked at has changed; of kubectl it knows nothing.
var noteInputs = sync.OnceValue(func() error {
	return filepath.WalkDir(filepath.Join(repository, "config"), func(_ string, _ fs.DirEntry, err error) error { return err })
})

func decode(t *testing.T, documents []byte) []*unstructured.Unstructured {
	t.Helper()
	objects, err := manifests.Decode(documents)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// apiServer is one API server for all tests, started by the first that needs it. It has
// substitutes for the CRDs of the Prometheus Operator and cert-manager, which accept what the real
// ones accept, and more.
var apiServer = sync.OnceValues(func() (administrator *rest.Config, err error) {
	var foreign []*apiextensionsv1.CustomResourceDefinition
	for _, kind := range []struct{ group, plural, kind string }{
		{"monitoring.coreos.com", "servicemonitors", "ServiceMonitor"},
		{"monitoring.coreos.com", "prometheusrules", "PrometheusRule"},
		{"cert-manager.io", "issuers", "Issuer"},
		{"cert-manager.io", "certificates", "Certificate"},
	} {
		definition := &apiextensionsv1.CustomResourceDefinition{}
		err := yaml.Unmarshal(fmt.Appendf(nil, `
metadata: {name: %[1]s.%[2]s}
spec:
  group: %[2]s
  scope: Namespaced
  names: {kind: %[3]s, plural: %[1]s}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`, kind.plural, kind.group, kind.kind), definition)
		if err != nil {
			return nil, err
		}
		foreign = append(foreign, definition)
	}
	administrator, stopAPIServer, err = controlplane.Start(foreign...)
	return administrator, err
})

var stopAPIServer func() error

func TestMain(m *testing.M) {
	log.SetOutput(io.Discard) // Helm reports each symbolic link of the chart.
	code := m.Run()
	if stopAPIServer != nil {
		if err := stopAPIServer(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// connect returns a client of the API server that notes down its warnings.
func connect(t *testing.T) (client.Client, *warnings) {
	t.Helper()
	config, err := apiServer()
	if err != nil {
		t.Fatal(err)
	}
	noted := &warnings{}
	config = rest.CopyConfig(config)
	config.WarningHandler = noted
	kube, err := client.New(config, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return kube, noted
}

// warnings are those of the API server.
type warnings struct {
	mu   sync.Mutex
	said []string
}

// HandleWarningHeader notes a warning down.
func (w *warnings) HandleWarningHeader(_ int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said = append(w.said, text)
}

func (w *warnings) all() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.said...)
}

// apply applies an object as `kubectl apply --server-side` does.
func apply(ctx context.Context, kube client.Client, object *unstructured.Unstructured) error {
	err := kube.Apply(ctx, client.ApplyConfigurationFromUnstructured(object.DeepCopy()), client.FieldOwner("install-test"), client.ForceOwnership)
	if err != nil {
		return fmt.Errorf("apply %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return nil
}
