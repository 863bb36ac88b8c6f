package values

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/releaseutil"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/controlplane"
)

// TestTheAPIServerAcceptsTheRenderedObjects puts each hostile text in each field, and
// asks a real API server: what it takes as a Darkroom, and the translator does not
// refuse, renders to objects that it takes too. With -short each field gets some of
// the texts, and each text gets into some of the fields.
func TestTheAPIServerAcceptsTheRenderedObjects(t *testing.T) {
	if !controlplane.Available() {
		t.Skip(controlplane.Missing)
	}
	judge := newJudge(t)
	for kind := range byte(kinds) {
		judge.try(t, fmt.Sprintf("kind %d", kind), steady(), kind, false)
	}
	if refused := judge.refused.Load(); refused > 0 {
		t.Fatalf("%d of the valid Darkrooms are refused", refused)
	}
	t.Run("hostile", func(t *testing.T) {
		for n := range steadyTexts {
			t.Run(fmt.Sprintf("field %d", n), func(t *testing.T) {
				t.Parallel()
				for i, text := range hostile {
					if testing.Short() && (i+n)%6 != 0 {
						continue
					}
					h := steady()
					*h.texts()[n] = text
					// Gateways and listeners have a kind of route of their own.
					judge.try(t, fmt.Sprintf("text %d %.40q", i, text), h, kindOfText(n, i), n == 17 || n == 18)
				}
			})
		}
	})
	taken, refused := judge.taken.Load(), judge.refused.Load()
	t.Logf("%d Darkrooms were rendered, %d refused before", taken, refused)
	if taken == 0 || refused == 0 {
		t.Error("texts that are all taken, or all refused, show nothing")
	}
}

var steadyTexts = func() int { h := steady(); return len(h.texts()) }()

// judge asks an API server what it takes.
type judge struct {
	kube           client.Client
	translator     *Translator
	chart          *chart.Chart
	taken, refused atomic.Int32
	// judged are the documents that were asked for. One text changes few of a
	// Darkroom's objects; the others would get the answer that they had.
	judged sync.Map
}

func newJudge(t *testing.T) *judge {
	t.Helper()
	translator, err := New(Options{BaseDomain: "example.net", AllowedAnnotations: []string{"*"}})
	if err != nil {
		t.Fatal(err)
	}
	chrt, err := darkroomChart()
	if err != nil {
		t.Fatal(err)
	}
	return &judge{kube: startAPIServer(t), translator: translator, chart: chrt}
}

// try has the API server judge a Darkroom, and what is rendered of it.
func (j *judge) try(t *testing.T, what string, h hand, kind byte, gateway bool) {
	t.Helper()
	darkroom := h.darkroom(kind, gateway)
	if !resourceTaken(t, j.kube, darkroom) {
		j.refused.Add(1)
		return
	}
	values, err := j.translator.Values(darkroom)
	if err != nil {
		j.refused.Add(1)
		return
	}
	manifest, err := tryRender(j.chart, darkroom, values)
	if err != nil {
		j.refused.Add(1)
		return
	}
	j.taken.Add(1)
	for _, document := range releaseutil.SplitManifests(manifest) {
		if _, before := j.judged.LoadOrStore(document, true); before {
			continue
		}
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(document), &object.Object); err != nil {
			t.Errorf("%s: no YAML: %v\n%s", what, err, document)
			continue
		}
		if len(object.Object) == 0 {
			continue
		}
		err := j.kube.Create(t.Context(), object, client.DryRunAll)
		if err != nil && !apierrors.IsForbidden(err) { // no ServiceAccount "default" without controllers
			t.Errorf("%s: %s refused: %v", what, object.GetKind(), err)
		}
	}
}

// resourceTaken reports whether the API server takes a Darkroom.
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
	administrator, stop, err := controlplane.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	kube, err := client.New(administrator, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	if err := kube.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team-a"}}); err != nil {
		t.Fatal(err)
	}
	return kube
}
