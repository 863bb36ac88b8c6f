package controller_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/controller"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/access"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/controlplane"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/manifests"
)

// The steps of docs/release.md for users of a release with another stored version.
const (
	rewriteCommand = "kubectl get darkrooms --all-namespaces -o json | kubectl replace -f -"
	forgetCommand  = `kubectl patch crd darkrooms.deployments.example.com --subresource=status --type=merge -p '{"status":{"storedVersions":["v1beta1"]}}'`
)

// TestTheStoredVersionCanBeReplaced rehearses what docs/release.md describes, with a
// version v1beta1 that has the fields of v1alpha1. The operator runs until no API serves
// the version that it knows.
func TestTheStoredVersionCanBeReplaced(t *testing.T) {
	t.Parallel()
	m := newMigration(t)
	running := startOperator(t, metav1.NamespaceDefault, func(_ *controller.Options, c *rest.Config) { *c = *rest.CopyConfig(m.administrator) })
	m.createSamples(t)
	photos := webFolder(metav1.NamespaceDefault, "photos")
	if err := m.kube.Create(t.Context(), photos); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the release of every Darkroom", m.settled)
	before, deployments := m.darkrooms(t, "v1alpha1"), m.deployments(t)

	// A release whose CRD has both versions, and stores the new one.
	m.define(t, func(crd *apiextensionsv1.CustomResourceDefinition) {
		beta := *crd.Spec.Versions[0].DeepCopy()
		beta.Name = "v1beta1"
		crd.Spec.Versions[0].Storage = false
		crd.Spec.Versions = append(crd.Spec.Versions, beta)
	})
	// An API server that serves the new version also stores it.
	eventually(t, "v1beta1 is served", func(ctx context.Context) error { return m.kube.List(ctx, listOf("v1beta1")) })
	onlyBeta := func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Spec.Versions = crd.Spec.Versions[1:] }
	if err := m.tryToDefine(t, onlyBeta); !apierrors.IsInvalid(err) {
		t.Errorf("a CRD without a version that objects are stored in is answered by: %v", err)
	}

	m.storedAs(t, "v1alpha1")
	m.run(t, rewriteCommand)
	m.storedAs(t, "v1beta1")
	m.run(t, forgetCommand)
	sameDarkrooms(t, before, m.darkrooms(t, "v1beta1"))
	if now := m.deployments(t); !maps.Equal(now, deployments) {
		t.Errorf("the Deployments were %v, and are %v", deployments, now)
	}

	// The operator works on: it reads v1alpha1, which the API server converts.
	patch := client.MergeFrom(photos.DeepCopy())
	photos.Spec.LogLevel = "warn"
	if err := m.kube.Patch(t.Context(), photos, patch); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the upgrade", m.settled)
	if now := m.deployments(t); now["photos"] == deployments["photos"] {
		t.Error("the Deployment photos was not changed")
	}
	running.kill()
	before = m.darkrooms(t, "v1alpha1")

	// A later release, whose CRD lacks v1alpha1.
	m.define(t, onlyBeta)
	eventually(t, "v1alpha1 is not served", func(ctx context.Context) error {
		if err := m.kube.List(ctx, listOf("v1alpha1")); !apierrors.IsNotFound(err) {
			return errors.Join(errors.New("it is"), err)
		}
		return nil
	})
	sameDarkrooms(t, before, m.darkrooms(t, "v1beta1"))
}

// migration is an API server whose CRD of Darkrooms changes, and its etcd.
type migration struct {
	administrator    *rest.Config
	kube             client.Client
	kubeconfig, etcd string
}

func newMigration(t *testing.T) *migration {
	t.Helper()
	administrator, etcd, stop, err := controlplane.StartWithStore()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	scheme := controller.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	m := &migration{administrator: administrator, etcd: etcd, kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
	if m.kube, err = client.New(administrator, client.Options{Scheme: scheme}); err != nil {
		t.Fatal(err)
	}
	if err := access.WriteKubeconfig(administrator, "", m.kubeconfig); err != nil {
		t.Fatal(err)
	}
	return m
}

// createSamples creates the Darkrooms of config/samples, which have most fields.
func (m *migration) createSamples(t *testing.T) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "config", "samples", "darkroom-*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d samples: %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		objects, err := manifests.Decode(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range objects {
			object.SetNamespace(metav1.NamespaceDefault)
			if err := m.kube.Create(t.Context(), object); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// settled returns an error unless the operator has handled every Darkroom, or refused it for
// lack of a Secret.
func (m *migration) settled(ctx context.Context) error {
	list := &v1alpha1.DarkroomList{}
	if err := m.kube.List(ctx, list); err != nil {
		return err
	}
	for _, darkroom := range list.Items {
		deployed := v1alpha1.FindCondition(darkroom.Status.Conditions, v1alpha1.ConditionDeployed)
		if darkroom.Status.ObservedGeneration != darkroom.Generation || deployed == nil || deployed.ObservedGeneration != darkroom.Generation {
			return fmt.Errorf("the conditions of %s are %+v", darkroom.Name, darkroom.Status.Conditions)
		}
	}
	return nil
}

// define changes the CRD.
func (m *migration) define(t *testing.T, change func(*apiextensionsv1.CustomResourceDefinition)) {
	t.Helper()
	if err := m.tryToDefine(t, change); err != nil {
		t.Fatal(err)
	}
}

func (m *migration) tryToDefine(t *testing.T, change func(*apiextensionsv1.CustomResourceDefinition)) error {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := m.kube.Get(t.Context(), client.ObjectKey{Name: "darkrooms." + v1alpha1.GroupVersion.Group}, crd); err != nil {
		t.Fatal(err)
	}
	before := crd.DeepCopy()
	change(crd)
	return m.kube.Patch(t.Context(), crd, client.MergeFrom(before))
}

// run runs a command of docs/release.md as it is written there. It is repeated while the
// operator writes the same objects, as the document says.
func (m *migration) run(t *testing.T, command string) {
	t.Helper()
	document, err := os.ReadFile(filepath.Join("..", "..", "docs", "release.md"))
	if err != nil || !strings.Contains(string(document), "\n"+command+"\n") {
		t.Fatalf("docs/release.md has no line %q: %v", command, err)
	}
	eventually(t, command, func(ctx context.Context) error {
		shell := exec.CommandContext(ctx, "bash", "-o", "pipefail", "-c", command)
		shell.Env = append(os.Environ(), "KUBECONFIG="+m.kubeconfig, "PATH="+os.Getenv("KUBEBUILDER_ASSETS")+":"+os.Getenv("PATH"))
		out, err := shell.CombinedOutput()
		if err != nil && !strings.Contains(string(out), "Conflict") {
			t.Fatalf("%s: %v: %s", command, err, out)
		}
		return err
	})
}

// storedAs checks the version in which etcd has the Darkrooms. The API server may answer
// from its cache, so a list does not show it.
func (m *migration) storedAs(t *testing.T, version string) {
	t.Helper()
	const first, end = "/registry/deployments.example.com/darkrooms/", "/registry/deployments.example.com/darkrooms0"
	// The JSON gateway of etcd encodes keys and values in base64, as encoding/json does bytes.
	question, err := json.Marshal(map[string][]byte{"key": []byte(first), "range_end": []byte(end)})
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, m.etcd+"/v3/kv/range", bytes.NewReader(question))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var answer struct {
		Pairs []struct{ Key, Value []byte } `json:"kvs"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || len(answer.Pairs) == 0 {
		t.Fatalf("etcd has %d Darkrooms (%s): %v", len(answer.Pairs), response.Status, err)
	}
	for _, pair := range answer.Pairs {
		var darkroom metav1.TypeMeta
		if err := json.Unmarshal(pair.Value, &darkroom); err != nil {
			t.Fatal(err)
		}
		if _, stored, _ := strings.Cut(darkroom.APIVersion, "/"); stored != version {
			t.Errorf("%s is stored as %s, want %s", pair.Key, stored, version)
		}
	}
}

func listOf(version string) *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(v1alpha1.GroupVersion.Group + "/" + version)
	list.SetKind("DarkroomList")
	return list
}

// darkrooms are all Darkrooms by name, read in a version, without what a write changes.
func (m *migration) darkrooms(t *testing.T, version string) map[string]map[string]any {
	t.Helper()
	list := listOf(version)
	if err := m.kube.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	found := make(map[string]map[string]any, len(list.Items))
	for _, darkroom := range list.Items {
		darkroom.SetResourceVersion("")
		darkroom.SetManagedFields(nil)
		darkroom.SetAPIVersion("")
		found[darkroom.GetName()] = darkroom.Object
	}
	return found
}

// deployments are the generations of all Deployments, by name.
func (m *migration) deployments(t *testing.T) map[string]string {
	t.Helper()
	list := &appsv1.DeploymentList{}
	if err := m.kube.List(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	found := make(map[string]string, len(list.Items))
	for _, deployment := range list.Items {
		found[deployment.Name] = fmt.Sprintf("%s in generation %d", deployment.UID, deployment.Generation)
	}
	return found
}

func sameDarkrooms(t *testing.T, before, after map[string]map[string]any) {
	t.Helper()
	if len(before) != len(after) || len(before) < 2 {
		t.Errorf("there were %d Darkrooms, and are %d", len(before), len(after))
	}
	for name, darkroom := range before {
		if !equality.Semantic.DeepEqual(darkroom, after[name]) {
			t.Errorf("%s was\n%v\nand is\n%v", name, darkroom, after[name])
		}
	}
}
