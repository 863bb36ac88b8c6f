package values

import (
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/releaseutil"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/darkroom-operator/darkroom-operator/api/v1alpha1"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/access"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/controlplane"
	"github.com/darkroom-operator/darkroom-operator/internal/testing/expect"
)

// TestTheAPIServerAcceptsTheRenderedObjects puts each hostile text into each field and sends the result to a real API
// server. If the API server accepts the Darkroom and the translator does not reject it, the API server must also accept
// the rendered objects. With -short, each field gets only some of the texts, and each text is put into only some of the
// fields.
func TestTheAPIServerAcceptsTheRenderedObjects(t *testing.T) {
	if !controlplane.Available() {
		t.Skip(controlplane.Missing)
	}
	judge := newJudge(t)
	for kind := range byte(kinds) {
		judge.try(t, fmt.Sprintf("kind %d", kind), steady().darkroom(kind, false))
		judge.try(t, fmt.Sprintf("kind %d of an additional source", kind), steady().additional(kind))
	}
	if refused := judge.refused.Load(); refused > 0 {
		t.Fatalf("%d of the valid Darkrooms are refused", refused)
	}
	t.Run("hostile", func(t *testing.T) {
		for n, field := range fields {
			t.Run(field, func(t *testing.T) {
				t.Parallel()
				for i, text := range hostile {
					if testing.Short() && (i+n)%6 != 0 {
						continue
					}
					h := steady()
					h[field] = text
					// Gateways and listeners have their own kind of route.
					kind := kindOfText(field, i)
					judge.try(t, fmt.Sprintf("text %d %.40q", i, text), h.darkroom(kind, field == "gateway" || field == "listener"))
					if !reflect.DeepEqual(h.darkroom(kind, false).Spec.Source, steady().darkroom(kind, false).Spec.Source) {
						judge.try(t, fmt.Sprintf("text %d %.40q of an additional source", i, text), h.additional(kind))
					}
				}
			})
		}
	})
	taken, refused := judge.taken.Load(), judge.refused.Load()
	t.Logf("%d Darkrooms were rendered, %d refused before", taken, refused)
	if taken == 0 || refused == 0 {
		t.Error("texts that are all accepted or all refused prove nothing")
	}
}

// judge sends objects to an API server as dry runs.
type judge struct {
	kube           client.Client
	translator     *Translator
	chart          *chart.Chart
	taken, refused atomic.Int32
	// judged are the documents that were sent. One text changes only a few of a Darkroom's objects; the responses for
	// the other objects are already known.
	judged sync.Map
}

func newJudge(t *testing.T) *judge {
	t.Helper()
	chrt, err := darkroomChart()
	expect.NoError(t, err)
	return &judge{kube: startAPIServer(t), translator: newTranslator(t, lenient), chart: chrt}
}

// try sends a Darkroom and its rendered objects to the API server.
func (j *judge) try(t *testing.T, what string, darkroom *v1alpha1.Darkroom) {
	t.Helper()
	manifest, taken := j.render(t, darkroom)
	if !taken {
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

// render renders a Darkroom unless the API server, the translator or the chart rejects it.
func (j *judge) render(t *testing.T, darkroom *v1alpha1.Darkroom) (manifest string, taken bool) {
	t.Helper()
	if err := j.kube.Create(t.Context(), darkroom.DeepCopy(), client.DryRunAll); err != nil {
		if !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) {
			t.Fatalf("create Darkroom: %v", err)
		}
		return "", false
	}
	values, err := j.translator.Values(darkroom)
	if err != nil {
		return "", false
	}
	manifest, err = tryRender(j.chart, darkroom, values)
	return manifest, err == nil
}

func startAPIServer(t *testing.T) client.Client {
	t.Helper()
	administrator, stop, err := controlplane.Start()
	expect.NoError(t, err)
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	kube, _, err := access.Clients(administrator)
	expect.NoError(t, err)
	expect.NoError(t, kube.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team-a"}}))
	return kube
}
