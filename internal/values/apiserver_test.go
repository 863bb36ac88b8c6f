package values

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	"helm.sh/helm/v3/pkg/releaseutil"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
)

// TestTheAPIServerTakesWhatIsRendered puts each hostile text in each field, and
// asks a real API server: what it takes as a Darkroom, and the translator does not
// refuse, renders to objects that it takes too.
func TestTheAPIServerTakesWhatIsRendered(t *testing.T) {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		t.Skip("KUBEBUILDER_ASSETS names no folder with kube-apiserver and etcd; `make test` sets it")
	}
	kube := startAPIServer(t)
	translator, err := New(Options{BaseDomain: "example.net"})
	if err != nil {
		t.Fatal(err)
	}
	taken, refused := 0, 0
	try := func(t *testing.T, what string, h hand, kind byte, gateway bool) {
		darkroom := h.darkroom(kind, gateway)
		if !resourceTaken(t, kube, darkroom) {
			refused++
			return
		}
		values, err := translator.Values(darkroom)
		if err != nil {
			refused++
			return
		}
		chrt, err := darkroomChart()
		if err != nil {
			t.Fatal(err)
		}
		manifest, err := tryRender(chrt, darkroom, values)
		if err != nil {
			refused++
			return
		}
		taken++
		for _, document := range releaseutil.SplitManifests(manifest) {
			object := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
				t.Errorf("%s: no YAML: %v\n%s", what, err, document)
				continue
			}
			if len(object.Object) == 0 {
				continue
			}
			err := kube.Create(t.Context(), object, client.DryRunAll)
			if err != nil && !apierrors.IsForbidden(err) { // no ServiceAccount "default" without controllers
				t.Errorf("%s: %s refused: %v", what, object.GetKind(), err)
			}
		}
	}
	for kind := range byte(kinds) {
		try(t, fmt.Sprintf("kind %d", kind), steady(), kind, false)
	}
	if refused > 0 {
		t.Fatalf("%d of the Darkrooms that nobody objects to are refused", refused)
	}
	for i, text := range hostile {
		for n := range steadyTexts {
			h := steady()
			*h.texts()[n] = text
			// Gateways and listeners have a kind of route of their own.
			try(t, fmt.Sprintf("text %d %.40q in field %d", i, text, n), h, kindOfText(n, i), n == 17 || n == 18)
		}
	}
	t.Logf("%d Darkrooms were rendered, %d refused before", taken, refused)
}

var steadyTexts = func() int { h := steady(); return len(h.texts()) }()

// resourceTaken tells whether the API server takes a Darkroom.
func resourceTaken(t *testing.T, kube client.Client, darkroom *v1alpha1.Darkroom) bool {
	t.Helper()
	err := kube.Create(t.Context(), darkroom.DeepCopy(), client.DryRunAll)
	if err != nil && !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) {
		t.Fatalf("create Darkroom: %v", err)
	}
	return err == nil
}

func startAPIServer(t *testing.T) client.Client {
	t.Helper()
	gatewayAPI, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/gateway-api").Output()
	if err != nil {
		t.Fatal(err)
	}
	environment := &envtest.Environment{
		CRDDirectoryPaths: []string{
			filepath.Join("..", "..", "config", "crd", "bases"),
			filepath.Join(strings.TrimSpace(string(gatewayAPI)), "config", "crd", "standard", "gateway.networking.k8s.io_httproutes.yaml"),
		},
		ErrorIfCRDPathMissing: true,
	}
	config, err := environment.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := environment.Stop(); err != nil {
			t.Error(err)
		}
	})
	config.QPS, config.Burst = -1, -1
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	kube, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	if err := kube.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team-a"}}); err != nil {
		t.Fatal(err)
	}
	return kube
}
