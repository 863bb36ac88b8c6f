package install

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/darkroom-operator/darkroom-operator/internal/testing/controlplane"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/manifests"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/wait"
)

// repository is the folder of the repository.
const repository = "../../.."

// kustomizeBuild builds a folder of config/ with the kubectl of the test cluster, like `kubectl apply -k`. Several
// folders, joined by "+", are combined as described in docs/install.md.
func kustomizeBuild(t *testing.T, folder string) []*unstructured.Unstructured {
	t.Helper()
	directory := filepath.Join(repository, "config", folder)
	if strings.Contains(folder, "+") {
		directory = combined(t, strings.Split(folder, "+"))
	}
	return build(t, directory)
}

// build builds a folder with a kustomization.
func build(t *testing.T, directory string) []*unstructured.Unstructured {
	t.Helper()
	must(t, noteInputs())
	command := exec.CommandContext(t.Context(), filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), "kubectl"),
		"kustomize", directory)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil || stderr.Len() > 0 {
		t.Fatalf("build %s: %v: %s", directory, err, stderr.String())
	}
	return decode(t, out)
}

// combined returns a folder with a kustomization that combines folders of config/.
func combined(t *testing.T, folders []string) string {
	t.Helper()
	config, err := filepath.Abs(filepath.Join(repository, "config"))
	must(t, err)
	directory := t.TempDir()
	resources, components := "resources:\n", "components:\n"
	for _, folder := range folders {
		relative, err := filepath.Rel(directory, filepath.Join(config, folder))
		must(t, err)
		kustomization, err := os.ReadFile(filepath.Join(config, folder, "kustomization.yaml"))
		must(t, err)
		if bytes.Contains(kustomization, []byte("kind: Component")) {
			components += "- " + relative + "\n"
		} else {
			resources += "- " + relative + "\n"
		}
	}
	text := "namePrefix: darkroom-operator-\n" + resources + components
	must(t, os.WriteFile(filepath.Join(directory, "kustomization.yaml"), []byte(text), 0o600))
	return directory
}

// noteInputs reads the folders that kubectl reads. Go runs cached tests again only if files that the tests themselves
// have read have changed; it does not know what kubectl reads.
var noteInputs = sync.OnceValue(func() error {
	return filepath.WalkDir(filepath.Join(repository, "config"),
		func(_ string, _ fs.DirEntry, err error) error { return err })
})

func decode(t *testing.T, documents []byte) []*unstructured.Unstructured {
	t.Helper()
	objects, err := manifests.Decode(documents)
	must(t, err)
	return objects
}

// administrator is a client with all permissions.
var administrator *rest.Config

func TestMain(m *testing.M) {
	log.SetOutput(io.Discard) // Helm reports each symbolic link of the chart.
	os.Exit(controlplane.Main(m, func(config *rest.Config) error {
		administrator = config
		_, err := envtest.InstallCRDs(config, envtest.CRDInstallOptions{CRDs: foreignDefinitions()})
		return err
	}))
}

// foreignDefinitions are substitutes for the CRDs of the Prometheus Operator and cert-manager. They accept everything
// that the real ones accept, and more.
func foreignDefinitions() []*apiextensionsv1.CustomResourceDefinition {
	var definitions []*apiextensionsv1.CustomResourceDefinition
	for plural, kind := range map[string]schema.GroupKind{
		"servicemonitors": {Group: "monitoring.coreos.com", Kind: "ServiceMonitor"},
		"prometheusrules": {Group: "monitoring.coreos.com", Kind: "PrometheusRule"},
		"issuers":         {Group: "cert-manager.io", Kind: "Issuer"},
		"certificates":    {Group: "cert-manager.io", Kind: "Certificate"},
	} {
		definitions = append(definitions, &apiextensionsv1.CustomResourceDefinition{
			ObjectMeta: metav1.ObjectMeta{Name: plural + "." + kind.Group},
			Spec: apiextensionsv1.CustomResourceDefinitionSpec{
				Group: kind.Group, Scope: apiextensionsv1.NamespaceScoped,
				Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: kind.Kind, Plural: plural},
				Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
					Name: "v1", Served: true, Storage: true,
					Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
						Type: "object", XPreserveUnknownFields: ptr.To(true),
					}},
				}},
			},
		})
	}
	return definitions
}

// connect returns a client of the API server, and the warnings that it receives.
func connect(t *testing.T) (kube client.Client, warnings *bytes.Buffer) {
	t.Helper()
	warnings = &bytes.Buffer{}
	config := rest.CopyConfig(administrator)
	config.WarningHandler = rest.NewWarningWriter(warnings, rest.WarningWriterOptions{})
	kube, err := client.New(config, client.Options{})
	must(t, err)
	return kube, warnings
}

var limits = wait.Limits{Timeout: wait.Patience, Period: 100 * time.Millisecond}

func apply(t *testing.T, kube client.Client, objects ...*unstructured.Unstructured) {
	t.Helper()
	for _, object := range objects {
		if err := manifests.Apply(t.Context(), kube, limits, object); err != nil {
			t.Error(err)
		}
	}
}

// deleteLater deletes an object when the test ends.
func deleteLater(t *testing.T, kube client.Client, object client.Object) {
	t.Helper()
	t.Cleanup(func() {
		if err := kube.Delete(context.WithoutCancel(t.Context()), object); err != nil {
			t.Error(err)
		}
	})
}

// must ends the test if there is an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
